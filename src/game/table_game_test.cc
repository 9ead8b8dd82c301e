#include "game/table_game.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "game/test_world.h"

namespace hifi {
namespace {

DrawPlan every_pair(const TestWorld& world) {
  return DrawPlan({.instances = world.data.rows,
                   .background_rows = world.background.rows,
                   .seed = 1,
                   .draws = world.data.rows * world.background.rows});
}

std::vector<double> by_hand(const TestWorld& world, std::span<const Coalition> coalitions,
                            std::span<const Draw> draws) {
  std::vector<double> losses;
  for (const Draw& draw : draws) {
    for (const Coalition& c : coalitions) losses.push_back(world.reference(c, draw));
  }
  return losses;
}

std::vector<Coalition> lattice(std::size_t players, std::uint64_t first, std::size_t count) {
  std::vector<Coalition> list;
  for (std::size_t k = 0; k < count; ++k) list.push_back(Coalition::from_mask(players, first + k));
  return list;
}

TEST(TableGame, EqualsPlainReferenceToTheBit) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::size_t players = 1 + seed % 5;
    const TestWorld world(seed, 3 + seed % 4, 1 + seed % 3, players, seed % 3, seed % 2 == 1);
    const auto draws = all_draws(every_pair(world));
    const auto expected = by_hand(world, lattice(players, 0, std::size_t{1} << players), draws);
    for (const std::size_t batch : {1U, 2U, 7U, 64U, 100'000U}) {
      for (const std::size_t threads : {1U, 2U, 5U}) {
        Workers workers(threads);
        TableGame game = world.game(batch);
        std::vector<double> out(expected.size(), -1);
        game.losses(CoalitionList::lattice(players, 0, std::size_t{1} << players), draws, out, workers);
        ASSERT_EQ(out, expected) << "seed " << seed << " batch " << batch << " threads " << threads;
      }
    }
  }
}

TEST(TableGame, AnyCoalitionsInAnyOrder) {
  const std::size_t players = 6;
  const TestWorld world(99, 4, 3, players, 2, true);
  const auto draws = all_draws(every_pair(world));
  Workers workers(2);
  TableGame game = world.game(10);
  for (const auto& [first, count] :
       {std::pair<std::uint64_t, std::size_t>{0, 1}, {5, 9}, {31, 2}, {63, 1}, {1, 63}}) {
    const auto list = lattice(players, first, count);
    const auto expected = by_hand(world, list, draws);
    std::vector<double> out(expected.size());
    game.losses(CoalitionList::lattice(players, first, count), draws, out, workers);
    EXPECT_EQ(out, expected) << first << " " << count;
    std::fill(out.begin(), out.end(), 0);
    game.losses(CoalitionList::of(players, list), draws, out, workers);
    EXPECT_EQ(out, expected) << first << " " << count;
  }
  std::vector<Coalition> mixed = {Coalition::from_mask(6, 63), Coalition::from_mask(6, 0),
                                  Coalition::from_mask(6, 21), Coalition::from_mask(6, 63)};
  std::vector<double> out(mixed.size() * draws.size());
  game.losses(CoalitionList::of(players, mixed), draws, out, workers);
  EXPECT_EQ(out, by_hand(world, mixed, draws));
}

TEST(TableGame, MoreThanSixtyFourPlayers) {
  const std::size_t players = 130;
  const TestWorld world(3, 2, 2, players);
  const auto draws = all_draws(every_pair(world));
  std::vector<Coalition> list = {Coalition(players), Coalition::full(players), Coalition(players).with(129),
                                 Coalition::full(players).without(64)};
  Workers workers(1);
  TableGame game = world.game(5);
  std::vector<double> out(list.size() * draws.size());
  game.losses(CoalitionList::of(players, list), draws, out, workers);
  EXPECT_EQ(out, by_hand(world, list, draws));
}

TEST(TableGame, NothingAskedNothingDone) {
  const TestWorld world(1, 2, 2, 2);
  Workers workers(2);
  TableGame game = world.game(5);
  game.losses(CoalitionList::of(2, {}), all_draws(every_pair(world)), {}, workers);
  game.losses(CoalitionList::lattice(2, 0, 4), {}, {}, workers);
  EXPECT_EQ(world.model->calls, 0U);
}

// The bytes of the rows of a batch.
std::set<std::vector<std::uint64_t>> distinct_rows(const std::vector<double>& batch, std::size_t width) {
  std::set<std::vector<std::uint64_t>> rows;
  for (std::size_t at = 0; at < batch.size(); at += width) {
    std::vector<std::uint64_t> row;
    for (std::size_t c = 0; c < width; ++c) row.push_back(std::bit_cast<std::uint64_t>(batch[at + c]));
    rows.insert(row);
  }
  return rows;
}

TEST(TableGame, IdenticalMaskedRowsOfATaskAreEvaluatedOnce) {
  for (const std::size_t batch : {2U, 16U, 33U, 100'000U}) {
    TestWorld world(7, 6, 5, 4, 1, true);
    world.model->keep_batches = true;
    const auto draws = all_draws(every_pair(world));
    const std::size_t evaluations = 16 * draws.size();
    Workers workers(1);
    TableGame game = world.game(batch);
    std::vector<double> out(evaluations);
    game.losses(CoalitionList::lattice(4, 0, 16), draws, out, workers);
    EXPECT_LE(world.model->calls, (evaluations + batch - 1) / batch);
    EXPECT_LT(world.model->rows_seen, evaluations);
    EXPECT_EQ(game.model_use().rows, world.model->rows_seen);
    // Task t holds the evaluations from t * batch on: neither more nor fewer rows than are distinct there.
    std::vector<double> masked;
    std::size_t task = 0;
    const std::size_t width = world.data.width;
    for (std::size_t e = 0; e < evaluations; ++e) {
      const Draw& draw = draws[e / 16];
      const auto x = world.data.row(draw.instance);
      std::vector<double> row(x.begin(), x.end());
      for (std::size_t i = 0; i < 4; ++i) {
        if ((e % 16) >> i & 1U) continue;
        for (const auto c : world.players.columns[i]) row[c] = world.background.row(draw.background)[c];
      }
      masked.insert(masked.end(), row.begin(), row.end());
      if ((e + 1) % batch != 0 && e + 1 != evaluations) continue;
      const auto sent = distinct_rows(world.model->batches[task], width);
      EXPECT_EQ(sent, distinct_rows(masked, width));
      EXPECT_EQ(sent.size() * width, world.model->batches[task].size()) << "a row was sent twice";
      masked.clear();
      ++task;
    }
    EXPECT_EQ(task, world.model->batches.size());
  }
}

TEST(TableGame, NeverMoreEvaluationsThanAskedFor) {
  TestWorld world(8, 5, 4, 5);
  for (std::size_t k = 0; k < world.data.values.size(); ++k) world.data.values[k] = static_cast<double>(k);
  for (std::size_t k = 0; k < world.background.values.size(); ++k) {
    world.background.values[k] = -1 - static_cast<double>(k);
  }
  const auto draws = all_draws(every_pair(world));
  Workers workers(2);
  TableGame game = world.game(50);
  std::vector<double> out(32 * draws.size());
  game.losses(CoalitionList::lattice(5, 0, 32), draws, out, workers);
  // Nothing repeats but the full coalition, which does not see the background.
  EXPECT_LE(world.model->rows_seen, out.size());
  EXPECT_GE(world.model->rows_seen, 31 * draws.size() + world.data.rows);
}

TEST(TableGame, AModelThatFailsEndsTheCallAndLeavesTheGameUsable) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    for (const std::size_t call : {1U, 2U, 9U}) {
      TestWorld world(5, 6, 5, 4);
      const auto draws = all_draws(every_pair(world));
      Workers workers(threads);
      TableGame game = world.game(8);
      std::vector<double> out(16 * draws.size());
      world.model->fail_at_call = call;
      try {
        game.losses(CoalitionList::lattice(4, 0, 16), draws, out, workers);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the model failed");
      }
      if (threads == 1) {  // others may be in a call when the first fails
        EXPECT_EQ(world.model->calls, call);
      }
      game.losses(CoalitionList::lattice(4, 0, 16), draws, out, workers);
      EXPECT_EQ(out, by_hand(world, lattice(4, 0, 16), draws));
    }
  }
}

TEST(TableGame, ANaNIsAnErrorNotALoss) {
  TestWorld world(5, 3, 3, 2);
  TestModel broken(world.data.width, [](std::span<const double>) { return std::nan(""); });
  TableGame game(broken, *world.loss, world.players, world.data, world.truth, world.background, 10);
  Workers workers(2);
  const auto draws = all_draws(every_pair(world));
  std::vector<double> out(4 * draws.size());
  try {
    game.losses(CoalitionList::lattice(2, 0, 4), draws, out, workers);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::model);
  }
}

}  // namespace
}  // namespace hifi
