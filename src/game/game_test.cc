#include "game/game.h"

#include <gtest/gtest.h>

#include "core/random.h"
#include "game/test_world.h"
#include "vocabulary/lattice.h"

namespace hifi {
namespace {

// The sums of `losses`, one by one in the order of the draws.
BlockSums plain_sums(Game& game, const DrawPlan& plan, std::span<const Draw> draws) {
  const std::size_t size = std::size_t{1} << game.players();
  Workers workers(1);
  std::vector<double> losses(size * draws.size());
  game.losses(CoalitionList::lattice(game.players(), 0, size), draws, losses, workers);
  BlockSums sums = zero_sums(size, plan.background_blocks(), plan.round_blocks());
  for (std::size_t d = 0; d < draws.size(); ++d) {
    for (std::size_t s = 0; s < size; ++s) {
      const double loss = losses[d * size + s];
      sums.background[draws[d].background_block][s] += loss;
      if (!sums.round.empty()) sums.round[draws[d].round_block][s] += loss;
      sums.squares[s] += loss * loss;
    }
  }
  return sums;
}

TEST(Game, AccumulateIsTheSumOfLosses) {
  const TestWorld world(4, 9, 40, 5, 1, true);
  for (const std::uint64_t count : {std::uint64_t{9 * 40}, std::uint64_t{50}, std::uint64_t{9 * 20 + 3}}) {
    const DrawPlan plan({.instances = 9, .background_rows = 40, .seed = 3, .draws = count});
    const auto draws = all_draws(plan);
    TableGame game = world.game(37);
    const BlockSums expected = plain_sums(game, plan, draws);
    for (const std::size_t threads : {1U, 2U, 5U}) {
      for (const std::size_t unit : {draws.size(), std::size_t{7}}) {
        Workers workers(threads);
        BlockSums sums = zero_sums(32, plan.background_blocks(), plan.round_blocks());
        for (std::size_t begin = 0; begin < draws.size(); begin += unit) {
          game.accumulate(std::span(draws).subspan(begin, std::min(unit, draws.size() - begin)), sums,
                          workers);
        }
        EXPECT_EQ(sums.background, expected.background);
        EXPECT_EQ(sums.round, expected.round);
        EXPECT_EQ(sums.squares, expected.squares);
      }
    }
  }
}

// A game without a model, larger than one chunk of the lattice.
class HashGame : public Game {
 public:
  std::size_t players() const override { return 17; }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers&) override {
    for (std::size_t d = 0; d < draws.size(); ++d) {
      for (std::size_t c = 0; c < coalitions.size(); ++c) {
        out[d * coalitions.size() + c] = loss(coalitions.first() + c, draws[d]);
      }
    }
  }
  static double loss(std::uint64_t mask, const Draw& draw) {
    return static_cast<double>((mask * 2654435761U + draw.instance * 97 + draw.background * 31) % 1009) / 7.0;
  }
};

TEST(Game, ALatticeOfSeveralChunks) {
  HashGame game;
  const DrawPlan plan({.instances = 4, .background_rows = 3, .seed = 3, .draws = 12});
  const auto draws = all_draws(plan);
  Workers workers(2);
  BlockSums sums = zero_sums(std::size_t{1} << 17, plan.background_blocks(), 0);
  game.accumulate(draws, sums, workers);
  for (const std::uint64_t mask : {0U, 1U, 2047U, 2048U, 65535U, 65536U, 65537U, 131071U}) {
    double squares = 0;
    std::vector<double> background(plan.background_blocks());
    for (const Draw& d : draws) {
      background[d.background_block] += HashGame::loss(mask, d);
      squares += HashGame::loss(mask, d) * HashGame::loss(mask, d);
    }
    EXPECT_EQ(sums.squares[mask], squares) << mask;
    for (std::size_t b = 0; b < background.size(); ++b)
      EXPECT_EQ(sums.background[b][mask], background[b]) << mask;
  }
}

}  // namespace
}  // namespace hifi
