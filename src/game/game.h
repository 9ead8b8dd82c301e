// The seam: everything that knows tables, images or models is behind a Game; everything that knows
// coalitions, statistics and reports is in front of it.
//
// A loss is a pure function of (coalition, draw): it does not depend on threads, order or company.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "game/draws.h"
#include "hifi/coalition.h"

namespace hifi {

// A list of coalitions: a stretch of the lattice without storing it, or any coalitions by reference.
class CoalitionList {
 public:
  // Masks first .. first + count - 1. REQUIRES: players <= 30
  static CoalitionList lattice(std::size_t players, std::uint64_t first, std::size_t count) {
    return CoalitionList(players, first, count, {});
  }
  static CoalitionList of(std::size_t players, std::span<const Coalition> list) {
    return CoalitionList(players, 0, list.size(), list);
  }

  std::size_t players() const { return players_; }
  std::size_t size() const { return count_; }
  bool is_lattice() const { return list_.empty(); }
  std::uint64_t first() const { return first_; }
  bool contains(std::size_t index, std::size_t player) const {
    return is_lattice() ? ((first_ + index) >> player) & 1U : list_[index].contains(player);
  }

 private:
  CoalitionList(std::size_t players, std::uint64_t first, std::size_t count, std::span<const Coalition> list)
      : players_(players), first_(first), count_(count), list_(list) {}

  std::size_t players_;
  std::uint64_t first_;
  std::size_t count_;
  std::span<const Coalition> list_;
};

// Coalitions per call of `losses` when a lattice is summed up.
inline constexpr std::size_t kLatticeChunk = 65'536;

// Evaluations of one unit of work of the row engine: what is in memory as single losses.
inline constexpr std::uint64_t kUnitEvaluations = 1U << 20;

// Where sums over draws go: for each coalition of the list one sum per background block, one per round
// block (none in exact mode), and one of squares.
struct BlockSums {
  std::vector<std::vector<double>> background;
  std::vector<std::vector<double>> round;
  std::vector<double> squares;
};

// Adds single losses, losses[d * count + c] of coalition first + c at draw d, into the blocks of their draws.
void add_losses(std::span<const Draw> draws, std::span<const double> losses, std::size_t first,
                std::size_t count, BlockSums& sums, Workers& workers);

// The work of a model: rows after identical ones were removed, the evaluations (coalition, draw) that they
// served, and the time within the model, summed over threads.
struct ModelUse {
  std::uint64_t rows = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t nanoseconds = 0;
};

class Game {
 public:
  virtual ~Game() = default;

  virtual std::size_t players() const = 0;
  // Standard deviation of the part of a loss that is independent between coalitions at the same draw: 0 for
  // functions of rows.
  virtual double coalition_noise() const { return 0; }
  // What was asked of a model so far, row by row; engines that know whole lattices ask nothing.
  virtual ModelUse model_use() const { return {}; }

  // out[d * coalitions.size() + c] = loss of coalition c at draw d.
  virtual void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                      Workers& workers) = 0;

  // Adds the losses of all 2^players coalitions into the blocks of each draw, in the order of the draws.
  // Engines that know a whole lattice at once override it; the sums must be those of `losses`.
  virtual void accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers);

  // Draws that make one call of `accumulate` in a run: a unit of work, what a kill between two saves may lose
  // at least. Sums are taken unit by unit, so it depends on nothing but the game.
  virtual std::uint64_t unit_draws() const;
  // Evaluations of one call of `losses` in a search: what a kill may lose, and what slow games make smaller.
  virtual std::uint64_t unit_evaluations() const { return kUnitEvaluations; }

  // A game that computes many draws cheaper together may look ahead: a run tells it the next draws, at most
  // so many, before it accumulates the first of them. What it computes must not depend on that.
  virtual std::size_t lookahead() const { return 0; }
  virtual void expect(std::span<const Draw> /*draws*/) {}

 private:
  std::vector<double> buffer_;  // single losses of `accumulate`, kept for its next call
};

}  // namespace hifi
