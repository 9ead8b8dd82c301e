#include "game/expected_tree_game.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "game/test_trees.h"
#include "game/test_world.h"
#include "vocabulary/lattice.h"

namespace hifi {
namespace {

struct Case {
  std::size_t players, fixed, trees, depth, outputs;
  LossKind loss;
  std::size_t averaged = 17;  // of 17 background rows
  bool groups = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.players << " players, " << c.fixed << " fixed, " << c.trees << " trees of depth " << c.depth
       << ", " << c.outputs << " outputs, " << loss_name(c.loss) << ", " << c.averaged << " rows";
}

constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;

struct World {
  TestWorld table;
  TestTrees model;
  Loss loss;
  std::vector<std::uint32_t> rows;

  explicit World(const Case& c)
      : table(5, 11, 17, c.players, c.fixed, c.groups),
        model(5, table.data.width, c.outputs, c.trees, c.depth, is_classification(c.loss)),
        loss({.kind = c.loss, .target_class = c.loss == LossKind::prediction && c.outputs > 2 ? "1" : ""},
             model.info()),
        rows(c.averaged) {
    std::iota(rows.begin(), rows.end(), 0U);
    if (!is_classification(c.loss)) return;
    for (std::size_t r = 0; r < table.truth.size(); ++r)
      table.truth[r] = static_cast<double>(r % std::max<std::size_t>(c.outputs, 2));
  }

  ExpectedTreeGame game(std::uint64_t memory = kMuch) {
    return {make_tree_layout(model, loss, table.players),
            memory,
            {model, loss, table.players, table.data, table.truth, table.background},
            rows,
            64};
  }
};

BlockSums sums_of(Game& game, bool fast, std::size_t threads = 2) {
  const DrawPlan plan({.instances = 11, .background_rows = 1, .seed = 3, .draws = 9, .blocks = 4});
  BlockSums sums = zero_sums(std::size_t{1} << game.players(), plan.background_blocks(), plan.round_blocks());
  Workers workers(threads);
  fast ? game.accumulate(all_draws(plan), sums, workers)
       : game.Game::accumulate(all_draws(plan), sums, workers);
  return sums;
}

void expect_close(const std::vector<std::vector<double>>& found,
                  const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0;
  for (const auto& block : expected) {
    for (const double value : block) most = std::max(most, std::abs(value));
  }
  for (std::size_t b = 0; b < found.size(); ++b) {
    for (std::size_t s = 0; s < found[b].size(); ++s)
      ASSERT_NEAR(found[b][s], expected[b][s], 2e-6 * most) << "block " << b << ", coalition " << s;
  }
}

class ExpectedTreeGameCases : public testing::TestWithParam<Case> {};

// The row engine is the judge.
TEST_P(ExpectedTreeGameCases, AccumulateIsTheSumOfLosses) {
  World world(GetParam());
  ExpectedTreeGame game = world.game();
  const BlockSums expected = sums_of(game, false);
  const BlockSums found = sums_of(game, true);
  expect_close(found.background, expected.background);
  expect_close(found.round, expected.round);
  expect_close({found.squares}, {expected.squares});
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ExpectedTreeGameCases,
    testing::Values(Case{1, 0, 7, 2, 1, LossKind::squared}, Case{2, 1, 7, 3, 1, LossKind::absolute},
                    Case{3, 2, 20, 4, 1, LossKind::prediction}, Case{5, 0, 1, 0, 1, LossKind::squared},
                    Case{8, 0, 40, 6, 1, LossKind::squared}, Case{8, 3, 40, 6, 1, LossKind::squared},
                    Case{9, 0, 20, 5, 1, LossKind::log}, Case{6, 1, 20, 5, 1, LossKind::zero_one},
                    Case{7, 0, 20, 5, 1, LossKind::brier, 5}, Case{4, 0, 21, 4, 3, LossKind::log},
                    Case{5, 1, 21, 4, 3, LossKind::brier, 17, true},
                    Case{5, 0, 21, 4, 3, LossKind::prediction}, Case{12, 2, 30, 7, 1, LossKind::squared},
                    Case{14, 0, 20, 12, 1, LossKind::squared}, Case{17, 1, 3, 60, 1, LossKind::squared}));

TEST(ExpectedTreeGame, SameBitsForAnyThreadsAndMemory) {
  for (const LossKind loss : {LossKind::squared, LossKind::log}) {
    World world({9, 1, 30, 6, 1, loss});
    ExpectedTreeGame first = world.game();
    const BlockSums expected = sums_of(first, true, 1);
    for (const std::uint64_t memory : {std::uint64_t{0}, kMuch}) {
      ExpectedTreeGame game = world.game(memory);
      const BlockSums found = sums_of(game, true, 3);
      EXPECT_EQ(found.background, expected.background);
      EXPECT_EQ(found.squares, expected.squares);
    }
  }
}

}  // namespace
}  // namespace hifi
