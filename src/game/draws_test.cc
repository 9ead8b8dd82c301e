#include "game/draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/random.h"

namespace hifi {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Draw> block_of(const DrawPlan& plan, std::size_t block) {
  std::vector<Draw> draws(plan.block_draws(block));
  plan.fill(block, 0, draws);
  return draws;
}

std::vector<Draw> all_of(const DrawPlan& plan) {
  std::vector<Draw> all;
  for (std::size_t b = 0; b < plan.instance_blocks(); ++b) {
    const auto draws = block_of(plan, b);
    all.insert(all.end(), draws.begin(), draws.end());
  }
  return all;
}

std::set<Pair> pairs_of(const DrawPlan& plan) {
  std::set<Pair> pairs;
  for (const Draw& d : all_of(plan)) pairs.emplace(d.instance, d.background);
  return pairs;
}

auto fields(const Draw& d) { return std::tuple(d.instance, d.background, d.background_block, d.round_block); }

// Draw d as the design defines it: instance q[d mod N] in round floor(d / N) with row perm[(a(i) + r) mod B].
std::set<Pair> by_definition(const DrawOptions& o) {
  const auto q = RandomStream(o.seed, Purpose::instance_order).permutation(o.instances);
  const auto perm = RandomStream(o.seed, Purpose::background_order).permutation(o.background_rows);
  const auto a = RandomStream(o.seed, Purpose::offsets).permutation(o.instances);
  std::set<Pair> pairs;
  for (std::uint64_t d = 0; d < o.draws; ++d) {
    const std::uint32_t i = q[d % o.instances];
    pairs.emplace(i, perm[(a[i] + d / o.instances) % o.background_rows]);
  }
  return pairs;
}

TEST(Draws, AllPairsAreABijection) {
  for (const auto& [n, b] :
       {std::pair{1, 1}, {1, 7}, {7, 1}, {5, 9}, {9, 5}, {40, 40}, {100, 33}, {33, 100}}) {
    for (const bool is_data : {false, true}) {
      if (is_data && n != b) continue;
      const DrawOptions options{.instances = static_cast<std::size_t>(n),
                                .background_rows = static_cast<std::size_t>(b),
                                .background_is_data = is_data,
                                .seed = 3,
                                .draws = static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(b)};
      const DrawPlan plan(options);
      EXPECT_TRUE(plan.exact());
      EXPECT_EQ(plan.round_blocks(), 0U);
      EXPECT_EQ(plan.instance_blocks(), std::min(32U, static_cast<unsigned>(n)));
      EXPECT_EQ(plan.background_blocks(), std::min(32U, static_cast<unsigned>(b)));
      EXPECT_EQ(all_of(plan).size(), options.draws);
      EXPECT_EQ(pairs_of(plan).size(), options.draws);
    }
  }
}

TEST(Draws, AnyNumberIsAPrefixOfTheDefinedSequenceAndFillsTheBlocksEvenly) {
  for (const auto& [n, b] : {std::pair<std::size_t, std::size_t>{1, 5}, {5, 1}, {6, 4}, {4, 6}, {37, 3}}) {
    for (std::uint64_t draws = 1; draws <= n * b; ++draws) {
      const DrawOptions options{.instances = n, .background_rows = b, .seed = 11, .draws = draws};
      const DrawPlan plan(options);
      EXPECT_EQ(pairs_of(plan), by_definition(options)) << n << " " << b << " " << draws;
      std::uint64_t least = UINT64_MAX;
      std::uint64_t most = 0;
      std::uint64_t sum = 0;
      for (std::size_t block = 0; block < plan.instance_blocks(); ++block) {
        least = std::min(least, plan.block_draws(block));
        most = std::max(most, plan.block_draws(block));
        sum += plan.block_draws(block);
      }
      EXPECT_EQ(sum, draws);
      EXPECT_GE(least, 1U);
      // A block may have one instance more than another, in every round.
      EXPECT_LE(most - least, (draws + n - 1) / n) << n << " " << b << " " << draws;
    }
  }
}

TEST(Draws, ARoundUsesTheBackgroundEvenly) {
  const DrawPlan plan({.instances = 100, .background_rows = 30, .seed = 5, .draws = 100});
  std::map<std::uint32_t, int> used;
  for (const Draw& d : all_of(plan)) ++used[d.background];
  EXPECT_EQ(used.size(), 30U);
  for (const auto& [row, count] : used) EXPECT_TRUE(count == 3 || count == 4) << row;
}

TEST(Draws, FileOrderIsMixedBySeed) {
  const auto order = [](std::uint64_t seed) {
    std::vector<std::uint32_t> instances;
    for (const Draw& d :
         all_of(DrawPlan({.instances = 64, .background_rows = 8, .seed = seed, .draws = 64}))) {
      instances.push_back(d.instance);
    }
    return instances;
  };
  EXPECT_FALSE(std::is_sorted(order(0).begin(), order(0).end()));
  EXPECT_NE(order(0), order(1));
  EXPECT_EQ(order(1), order(1));
}

TEST(Draws, AnyStretchesGiveTheSameSequence) {
  for (const std::uint64_t draws : {std::uint64_t{1000}, std::uint64_t{50 * 37}}) {
    const DrawPlan plan({.instances = 50, .background_rows = 37, .seed = 1, .draws = draws});
    for (const std::size_t block : {std::size_t{0}, plan.instance_blocks() - 1}) {
      const auto whole = block_of(plan, block);
      for (const std::size_t step : {1U, 2U, 7U, 31U}) {
        for (std::size_t begin = 0; begin < whole.size(); begin += step) {
          std::vector<Draw> part(std::min(step, whole.size() - begin));
          plan.fill(block, begin, part);
          for (std::size_t k = 0; k < part.size(); ++k) {
            ASSERT_EQ(fields(part[k]), fields(whole[begin + k])) << block << " " << begin << " " << step;
          }
        }
      }
    }
  }
}

TEST(Draws, ExactGoesByBackgroundBlocksSampledByRounds) {
  const DrawPlan exact({.instances = 70, .background_rows = 90, .seed = 2, .draws = 70 * 90});
  for (std::size_t b = 0; b < exact.instance_blocks(); ++b) {
    const auto draws = block_of(exact, b);
    EXPECT_TRUE(std::is_sorted(draws.begin(), draws.end(), [](const Draw& x, const Draw& y) {
      return x.background_block < y.background_block;
    }));
  }
  const DrawPlan sampled({.instances = 70, .background_rows = 90, .seed = 2, .draws = 70 * 20});
  const auto draws = block_of(sampled, 0);
  std::set<std::uint32_t> round;
  std::size_t size = 0;
  for (const Draw& d : draws) size += round.insert(d.instance).second;
  for (std::size_t k = 0; k < draws.size(); ++k) EXPECT_EQ(draws[k].instance, draws[k % size].instance);
}

TEST(Draws, BlocksOfTheBackground) {
  const DrawPlan plan({.instances = 40, .background_rows = 100, .seed = 2, .draws = 4000});
  std::map<std::uint32_t, std::uint32_t> block;
  std::map<std::uint32_t, std::set<std::uint32_t>> rows;
  for (const Draw& d : all_of(plan)) {
    EXPECT_EQ(block.emplace(d.background, d.background_block).first->second, d.background_block);
    rows[d.background_block].insert(d.background);
  }
  EXPECT_EQ(rows.size(), plan.background_blocks());
  for (const auto& [b, members] : rows) EXPECT_TRUE(members.size() == 3 || members.size() == 4);
}

TEST(Draws, DataAsBackgroundHasOnePartitionOfTheRows) {
  for (const std::uint64_t draws : {std::uint64_t{64}, std::uint64_t{500}, std::uint64_t{2500}}) {
    for (const bool clustered : {false, true}) {
      std::vector<std::uint32_t> clusters;
      for (std::uint32_t i = 0; clustered && i < 50; ++i) clusters.push_back(i % 9);
      const DrawPlan plan({.instances = 50,
                           .background_rows = 50,
                           .background_is_data = true,
                           .seed = 4,
                           .draws = draws,
                           .clusters = clusters});
      EXPECT_EQ(plan.background_blocks(), plan.instance_blocks());
      std::map<std::uint32_t, std::size_t> home;
      for (std::size_t b = 0; b < plan.instance_blocks(); ++b) {
        for (const Draw& d : block_of(plan, b)) home[d.instance] = b;
      }
      for (const Draw& d : all_of(plan)) {
        if (!home.contains(d.background)) continue;
        EXPECT_EQ(d.background_block, home.at(d.background));
      }
    }
  }
}

TEST(Draws, AClusterStaysInOneBlock) {
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t i = 0; i < 200; ++i) clusters.push_back(i < 60 ? 0 : 1 + i % 50);
  for (const std::uint64_t draws :
       {std::uint64_t{10}, std::uint64_t{100}, std::uint64_t{200 * 3}, std::uint64_t{200 * 7}}) {
    const DrawPlan plan(
        {.instances = 200, .background_rows = 7, .seed = 9, .draws = draws, .clusters = clusters});
    EXPECT_EQ(plan.instance_blocks(), std::min<std::size_t>(32, draws));
    std::map<std::uint32_t, std::set<std::size_t>> blocks;
    std::uint64_t sum = 0;
    for (std::size_t b = 0; b < plan.instance_blocks(); ++b) {
      for (const Draw& d : block_of(plan, b)) blocks[clusters[d.instance]].insert(b);
      sum += plan.block_draws(b);
    }
    EXPECT_EQ(sum, draws);
    for (const auto& [cluster, homes] : blocks) EXPECT_EQ(homes.size(), 1U) << cluster;
  }
  const DrawPlan few({.instances = 4, .background_rows = 2, .draws = 8, .clusters = {0, 1, 0, 1}});
  EXPECT_EQ(few.instance_blocks(), 2U);
}

TEST(Draws, ThirdPartitionIsSlicesBelowEightRounds) {
  for (const std::uint64_t draws : {std::uint64_t{20}, std::uint64_t{700}, std::uint64_t{701}}) {
    const DrawPlan plan({.instances = 100, .background_rows = 50, .seed = 6, .draws = draws});
    const std::size_t slices = std::min<std::size_t>(32, draws);
    const bool by_round = draws > 700;
    EXPECT_EQ(plan.round_blocks(), by_round ? 8U : slices);
    std::map<std::uint32_t, std::size_t> size;
    for (const Draw& d : all_of(plan)) ++size[d.round_block];
    EXPECT_EQ(size.size(), plan.round_blocks());
    for (const auto& [block, count] : size) {
      if (by_round) {
        EXPECT_EQ(count, block < 7 ? 100U : 1U);
      } else {
        EXPECT_LE(count, draws / slices + 1);
        EXPECT_GE(count, draws / slices);
      }
    }
  }
}

TEST(Draws, SlicesAreConsecutive) {
  const DrawOptions options{.instances = 10, .background_rows = 50, .seed = 6, .draws = 47, .blocks = 4};
  const auto q = RandomStream(options.seed, Purpose::instance_order).permutation(10);
  const auto perm = RandomStream(options.seed, Purpose::background_order).permutation(50);
  const auto a = RandomStream(options.seed, Purpose::offsets).permutation(10);
  std::map<Pair, std::uint32_t> slice;
  for (const Draw& d : all_of(DrawPlan(options))) slice[{d.instance, d.background}] = d.round_block;
  for (std::uint32_t d = 0; d < 47; ++d) {
    const std::uint32_t i = q[d % 10];
    EXPECT_EQ(slice.at({i, perm[(a[i] + d / 10) % 50]}), d * 4 / 47);
  }
}

TEST(Draws, RoundsShareBlocksEvenly) {
  const DrawPlan plan({.instances = 10, .background_rows = 200, .seed = 6, .draws = 10 * 96});
  EXPECT_EQ(plan.round_blocks(), 32U);
  std::map<std::uint32_t, int> size;
  for (const Draw& d : all_of(plan)) ++size[d.round_block];
  for (const auto& [block, count] : size) EXPECT_EQ(count, 30) << block;
}

}  // namespace
}  // namespace hifi
