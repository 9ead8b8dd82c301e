#include "game/cell_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace hifi {
namespace {

using Rows = std::vector<std::uint32_t>;

// True if every row is in exactly one of the two, and the sizes differ by at most one.
bool divides(const Rows& a, const Rows& b, std::size_t rows) {
  std::set<std::uint32_t> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  return all.size() == rows && a.size() + b.size() == rows && difference <= 1;
}

TEST(CellDraws, HalvesShareNoSampledRow) {
  for (const std::uint64_t seed : {0U, 1U, 7U}) {
    const auto parts = split_rows({.instances = 101, .background_rows = 60, .seed = seed}, false);
    EXPECT_TRUE(divides(parts[0].instances, parts[1].instances, 101));
    EXPECT_TRUE(divides(parts[0].background, parts[1].background, 60));
    EXPECT_TRUE(is_split(parts));
    EXPECT_EQ(parts[0].pairs(), parts[0].instances.size() * 30);
    // In file order one half would be the first 50 rows.
    EXPECT_LT(parts[0].instances.front(), 25U);
    EXPECT_GT(parts[0].instances.back(), 75U);
  }
}

TEST(CellDraws, ABackgroundThatIsTheDataIsSplitLikeIt) {
  const auto parts =
      split_rows({.instances = 80, .background_rows = 80, .background_is_data = true, .seed = 3}, false);
  EXPECT_TRUE(divides(parts[0].instances, parts[1].instances, 80));
  EXPECT_EQ(parts[0].instances, parts[0].background);
  EXPECT_EQ(parts[1].instances, parts[1].background);
}

TEST(CellDraws, AFixedBackgroundIsInBothHalves) {
  const auto parts = split_rows({.instances = 80, .background_rows = 64, .seed = 3}, true);
  EXPECT_TRUE(divides(parts[0].instances, parts[1].instances, 80));
  for (const RowPart& part : parts) {
    ASSERT_EQ(part.background.size(), 64U);
    EXPECT_EQ(part.background.front(), 0U);
    EXPECT_EQ(part.background.back(), 63U);
  }
}

TEST(CellDraws, FewRowsAreNotSplit) {
  const auto few = split_rows({.instances = 39, .background_rows = 39, .background_is_data = true}, false);
  EXPECT_FALSE(is_split(few));
  EXPECT_EQ(few[0].instances.size(), 39U);
  EXPECT_TRUE(
      is_split(split_rows({.instances = 40, .background_rows = 40, .background_is_data = true}, false)));
  // A side that is large enough is split all the same.
  const auto one = split_rows({.instances = 39, .background_rows = 200}, false);
  EXPECT_TRUE(is_split(one));
  EXPECT_EQ(one[0].instances, one[1].instances);
  EXPECT_TRUE(divides(one[0].background, one[1].background, 200));
}

TEST(CellDraws, ClustersStayWhole) {
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t row = 0; row < 300; ++row) clusters.push_back(row < 100 ? 0 : 1 + row % 60);
  const DrawOptions options{.instances = 300,
                            .background_rows = 300,
                            .background_is_data = true,
                            .seed = 5,
                            .draws = 2000,
                            .clusters = clusters};
  const auto parts = split_rows(options, false);
  EXPECT_TRUE(is_split(parts));
  std::set<std::uint32_t> in[2];
  for (const std::size_t half : {0U, 1U}) {
    for (const std::uint32_t row : parts[half].instances) in[half].insert(clusters[row]);
    const CellDraws draws = make_cell_draws(options, parts[half]);
    std::map<std::uint32_t, std::set<std::uint32_t>> blocks;
    for (std::size_t d = 0; d < draws.draws.size(); ++d) {
      blocks[clusters[draws.draws[d].instance]].insert(draws.instance_block[d]);
      blocks[clusters[draws.draws[d].background]].insert(draws.draws[d].background_block);
    }
    for (const auto& [cluster, seen] : blocks) EXPECT_EQ(seen.size(), 1U) << cluster;
  }
  EXPECT_EQ(in[0].size() + in[1].size(), 61U);
  for (const std::uint32_t cluster : in[0]) EXPECT_FALSE(in[1].contains(cluster));

  std::vector<std::uint32_t> large(300);
  for (std::uint32_t row = 0; row < 300; ++row) large[row] = row % 39;
  EXPECT_FALSE(is_split(split_rows(
      {.instances = 300, .background_rows = 300, .background_is_data = true, .clusters = large}, false)));
}

TEST(CellDraws, DrawsAreRowsOfTheTablesNotOfThePart) {
  DrawOptions options{.instances = 50, .background_rows = 44, .seed = 9};
  const auto parts = split_rows(options, false);
  for (const RowPart& part : parts) {
    options.draws = part.pairs();
    const CellDraws all = make_cell_draws(options, part);
    EXPECT_TRUE(all.all_pairs);
    std::set<std::pair<std::uint32_t, std::uint32_t>> expected, found;
    for (const std::uint32_t x : part.instances) {
      for (const std::uint32_t z : part.background) expected.emplace(x, z);
    }
    for (const Draw& draw : all.draws) found.emplace(draw.instance, draw.background);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(all.draws.size(), expected.size());
  }
}

TEST(CellDraws, WeightsCountTheDraws) {
  const DrawOptions options{.instances = 90, .background_rows = 70, .seed = 9, .draws = 333};
  const CellDraws cells = make_cell_draws(options, split_rows(options, false)[1]);
  EXPECT_FALSE(cells.all_pairs);
  EXPECT_FALSE(cells.all_distinct);
  DrawPlan::Weights counted{std::vector<std::uint64_t>(cells.instance_blocks),
                            std::vector<std::uint64_t>(cells.background_blocks),
                            std::vector<std::uint64_t>(cells.round_blocks)};
  ASSERT_EQ(cells.draws.size(), 333U);
  for (std::size_t d = 0; d < 333; ++d) {
    ++counted.instance[cells.instance_block[d]];
    ++counted.background[cells.draws[d].background_block];
    ++counted.round[cells.draws[d].round_block];
  }
  EXPECT_EQ(counted.instance, cells.weights.instance);
  EXPECT_EQ(counted.background, cells.weights.background);
  EXPECT_EQ(counted.round, cells.weights.round);
}

}  // namespace
}  // namespace hifi
