// Games for tests of runs without a lattice: one that counts and fails when told to, and the XOR oracle.
#pragma once

#include <atomic>
#include <vector>

#include "core/random.h"
#include "game/cell_draws.h"
#include "game/game.h"
#include "hifi/error.h"
#include "vocabulary/test_plan.h"

namespace hifi {

// Counts (coalition, draw) evaluations; throws at the call with number `stop_at`, from 1; 0: never.
class CountingGame : public Game {
 public:
  explicit CountingGame(Game& game, std::size_t stop_at = 0) : game_(game), stop_at_(stop_at) {}
  std::size_t players() const override { return game_.players(); }
  double coalition_noise() const override { return game_.coalition_noise(); }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override {
    if (++calls == stop_at_) throw Error(ErrorCode::model, "the model failed");
    evaluations += out.size();
    game_.losses(coalitions, draws, out, workers);
  }
  std::atomic<std::size_t> calls = 0;
  std::atomic<std::uint64_t> evaluations = 0;

 private:
  Game& game_;
  std::size_t stop_at_;
};

// The loss of the exclusive or of three players, masked, against the truth; the other players change nothing.
// Instances are bits that are 1 with probability `ones`, background rows with probability `background_ones`.
class XorGame : public Game {
 public:
  XorGame(std::size_t players, std::size_t rows, double ones, double background_ones) : players_(players) {
    RandomStream random(1, Purpose::probe);
    const auto fill = [&](std::vector<unsigned>& bits, double probability) {
      for (std::size_t k = 0; k < 3 * rows; ++k) bits.push_back(random.uniform() < probability ? 1 : 0);
    };
    fill(instance_, ones);
    fill(background_, background_ones);
  }
  std::size_t players() const override { return players_; }
  double loss(const Coalition& coalition, const Draw& draw) const {
    unsigned wrong = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!coalition.contains(i))
        wrong ^= instance_[3 * draw.instance + i] ^ background_[3 * draw.background + i];
    }
    return wrong;
  }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers&) override {
    for (std::size_t d = 0; d < draws.size(); ++d) {
      for (std::size_t c = 0; c < coalitions.size(); ++c) {
        Coalition coalition(players_);
        for (std::size_t i = 0; i < 3; ++i) {
          if (coalitions.contains(c, i)) coalition = coalition.with(i);
        }
        out[d * coalitions.size() + c] = loss(coalition, draws[d]);
      }
    }
  }

 private:
  std::size_t players_;
  std::vector<unsigned> instance_, background_;
};

}  // namespace hifi
