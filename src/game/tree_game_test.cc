#include "game/tree_game.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "game/test_trees.h"
#include "game/test_world.h"
#include "vocabulary/lattice.h"

namespace hifi {
namespace {

struct Case {
  std::size_t players, fixed, trees, depth, outputs;
  LossKind loss;
  bool groups = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.players << " players, " << c.fixed << " fixed, " << c.trees << " trees of depth " << c.depth
       << ", " << c.outputs << " outputs, " << loss_name(c.loss) << (c.groups ? ", groups" : "");
}

// A table game of random trees; the truth suits the loss.
struct TreeWorld {
  TestWorld table;
  TestTrees model;
  Loss loss;

  explicit TreeWorld(const Case& c, std::uint64_t seed = 3)
      : table(seed, 11, 17, c.players, c.fixed, c.groups),
        model(seed, table.data.width, c.outputs, c.trees, c.depth, is_classification(c.loss)),
        loss({.kind = c.loss, .target_class = c.loss == LossKind::prediction && c.outputs > 2 ? "1" : ""},
             model.info()) {
    if (!is_classification(c.loss)) return;
    for (std::size_t r = 0; r < table.truth.size(); ++r)
      table.truth[r] = static_cast<double>(r % std::max<std::size_t>(c.outputs, 2));
  }

  std::unique_ptr<TreeGame> game(std::uint64_t limit = std::uint64_t{1} << 30) {
    auto layout = make_tree_layout(model, loss, table.players);
    if (layout == nullptr) return nullptr;
    return std::make_unique<TreeGame>(std::move(layout), limit, model, loss, table.players, table.data,
                                      table.truth, table.background, 64);
  }
};

BlockSums zero_for(const DrawPlan& plan, std::size_t players) {
  return zero_sums(std::size_t{1} << players, plan.background_blocks(), plan.round_blocks());
}

double largest(const std::vector<std::vector<double>>& arrays) {
  double most = 0;
  for (const auto& array : arrays) {
    for (const double value : array) most = std::max(most, std::abs(value));
  }
  return most;
}

void expect_close(const std::vector<std::vector<double>>& found,
                  const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  const double tolerance = 2e-6 * largest(expected);
  for (std::size_t b = 0; b < found.size(); ++b) {
    for (std::size_t s = 0; s < found[b].size(); ++s)
      ASSERT_NEAR(found[b][s], expected[b][s], tolerance) << "block " << b << ", coalition " << s;
  }
}

class TreeGameCases : public testing::TestWithParam<Case> {};

// The row engine is the judge: Game::accumulate adds up `losses`.
TEST_P(TreeGameCases, AccumulateIsTheSumOfLosses) {
  TreeWorld world(GetParam());
  const auto game = world.game();
  ASSERT_NE(game, nullptr);
  for (const std::uint64_t count : {std::uint64_t{11 * 17}, std::uint64_t{70}}) {
    const DrawPlan plan({.instances = 11, .background_rows = 17, .seed = 3, .draws = count, .blocks = 4});
    const auto draws = all_draws(plan);
    Workers workers(2);
    BlockSums expected = zero_for(plan, game->players());
    game->Game::accumulate(draws, expected, workers);
    BlockSums found = zero_for(plan, game->players());
    game->accumulate(draws, found, workers);
    expect_close(found.background, expected.background);
    expect_close(found.round, expected.round);
    expect_close({found.squares}, {expected.squares});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TreeGameCases,
    testing::Values(Case{1, 0, 7, 2, 1, LossKind::squared}, Case{2, 1, 7, 3, 1, LossKind::absolute},
                    Case{3, 2, 20, 4, 1, LossKind::prediction}, Case{5, 0, 1, 0, 1, LossKind::squared},
                    Case{8, 0, 40, 6, 1, LossKind::squared}, Case{8, 3, 40, 6, 1, LossKind::squared},
                    Case{9, 0, 20, 5, 1, LossKind::log}, Case{6, 1, 20, 5, 1, LossKind::zero_one},
                    Case{7, 0, 20, 5, 1, LossKind::brier}, Case{4, 0, 21, 4, 3, LossKind::log},
                    Case{5, 1, 21, 4, 3, LossKind::brier, true}, Case{5, 0, 21, 4, 3, LossKind::prediction},
                    Case{6, 0, 21, 4, 3, LossKind::zero_one}, Case{10, 0, 30, 6, 1, LossKind::squared, true},
                    Case{12, 2, 30, 7, 1, LossKind::squared}, Case{13, 0, 20, 6, 2, LossKind::log},
                    Case{14, 0, 20, 12, 1, LossKind::squared}, Case{15, 1, 5, 6, 1, LossKind::squared}));

// Leaves that leave the instance's side at more than six players take another way into the lattice.
TEST(TreeGame, DeepTreesOfManyPlayers) {
  TreeWorld world({16, 0, 3, 60, 1, LossKind::squared});
  const auto game = world.game();
  const DrawPlan plan({.instances = 11, .background_rows = 17, .seed = 3, .draws = 20, .blocks = 2});
  const auto draws = all_draws(plan);
  Workers workers(2);
  BlockSums expected = zero_for(plan, 16);
  game->Game::accumulate(draws, expected, workers);
  BlockSums found = zero_for(plan, 16);
  game->accumulate(draws, found, workers);
  expect_close(found.background, expected.background);
}

TEST(TreeGame, SameBitsForAnyThreadsAndMemory) {
  const Case c{9, 1, 30, 6, 1, LossKind::squared};
  TreeWorld world(c);
  const DrawPlan plan({.instances = 11, .background_rows = 17, .seed = 3, .draws = 150, .blocks = 3});
  const auto draws = all_draws(plan);
  std::optional<BlockSums> first;
  for (const std::size_t threads : {1U, 2U, 5U}) {
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1} << 30}) {
      Workers workers(threads);
      BlockSums sums = zero_for(plan, 9);
      world.game(limit)->accumulate(draws, sums, workers);
      if (!first) first = sums;
      EXPECT_EQ(sums.background, first->background);
      EXPECT_EQ(sums.round, first->round);
      EXPECT_EQ(sums.squares, first->squares);
    }
  }
}

// A coalition's loss must not be disturbed by players that do not matter to it, not in the last bit.
TEST(TreeGame, EqualContextsStayEqual) {
  const Case c{10, 0, 25, 6, 1, LossKind::squared};
  TreeWorld world(c);
  world.model.ignore_column(4);
  const DrawPlan plan({.instances = 11, .background_rows = 17, .seed = 3, .draws = 11 * 17});
  Workers workers(2);
  BlockSums sums = zero_for(plan, 10);
  world.game()->accumulate(all_draws(plan), sums, workers);
  for (std::size_t s = 0; s < 1024; ++s) EXPECT_EQ(sums.squares[s], sums.squares[s | 16U]) << s;
}

TEST(TreeGame, BothKernelsGiveTheSameBits) {
  for (const unsigned bits : {3U, 8U, 11U, 14U}) {
    for (const unsigned bytes : {1U, 2U, 4U}) {
      if (bits > 8 * bytes) continue;
      const LatticeShape shape{.bits = bits, .ternary = std::min(bits - 3, 3U)};
      RandomStream random(bits, Purpose::probe);
      constexpr std::size_t kLeaves = 320;
      std::vector<std::uint8_t> x(kLeaves * bytes), z(kLeaves * bytes);
      std::vector<std::uint32_t> values(kLeaves);
      for (std::size_t k = 0; k < kLeaves; ++k) {
        values[k] = static_cast<std::uint32_t>(random.below(1U << 20));
        for (auto* masks : {&x, &z}) {
          const std::uint64_t mask = random.below(1U << bits) & random.below(1U << bits);
          for (unsigned b = 0; b < bytes; ++b)
            (*masks)[k * bytes + b] = static_cast<std::uint8_t>(mask >> (8 * b));
        }
      }
      std::vector<PairSpace> space(2, PairSpace(shape));
      const TreeKernels* kernels[] = {&baseline_tree_kernels(), &tree_kernels()};
      for (std::size_t k = 0; k < 2; ++k) {
        kernels[k]->deposit(shape, bytes, x.data(), z.data(), values.data(), kLeaves, space[k]);
        for (std::size_t first = 0; first < shape.cells(); first += 1U << kBlockBits)
          kernels[k]->finish(shape, first, space[k]);
      }
      for (auto& one : space) one.margins.resize(shape.cells());
      EXPECT_EQ(space[0].margins, space[1].margins);
      // By definition.
      for (std::uint32_t s = 0; s < shape.cells(); s += 7) {
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < kLeaves; ++k) {
          std::uint32_t a = 0, b = 0;
          for (unsigned byte = 0; byte < bytes; ++byte) {
            a |= static_cast<std::uint32_t>(z[k * bytes + byte]) << (8 * byte);
            b |= static_cast<std::uint32_t>(x[k * bytes + byte]) << (8 * byte);
          }
          if ((s & a) == a && (s & b) == 0) sum += values[k];
        }
        ASSERT_EQ(space[1].margins[s], sum) << s;
      }
    }
  }
}

TEST(TreeGame, OutputsThatAreNoProbabilitiesStayWithTheRowEngine) {
  TreeWorld world({4, 0, 5, 3, 1, LossKind::squared});
  world.model.info().task = Task::unknown;
  const Loss log({.kind = LossKind::log}, world.model.info());
  EXPECT_EQ(make_tree_layout(world.model, log, world.table.players), nullptr);
  const Loss linked({.kind = LossKind::log, .link = Link::sigmoid}, world.model.info());
  EXPECT_NE(make_tree_layout(world.model, linked, world.table.players), nullptr);
}

}  // namespace
}  // namespace hifi
