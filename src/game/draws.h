// Draws: which instance meets which background row, and into which blocks their losses go.
//
// A draw is an index, not a random event: draw d is instance q[d mod N] in round r = floor(d / N), paired
// with background row perm[(a(i) + r) mod B]. q, perm and a are seeded permutations, so that any file order
// is mixed, every round uses the background rows evenly, and B rounds are a bijection onto all N x B pairs.
//
// Blocks: position p of q is in instance block p mod G, so that any number of draws fills all blocks evenly;
// likewise for the background, unless it is the data, then both sides use one partition of the rows. A
// sampled plan has a third partition for Monte Carlo error: by round from 8 rounds on, else consecutive
// slices of draws.
//
// Work order: instance block by instance block. Within a block an exact plan goes by background blocks, a
// sampled one by rounds. Sums are taken in this order whatever the threads, shards or interruptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hifi {

struct Draw {
  std::uint32_t instance = 0;
  std::uint32_t background = 0;
  std::uint32_t background_block = 0;
  std::uint32_t round_block = 0;
};

struct DrawOptions {
  std::size_t instances = 0;
  std::size_t background_rows = 0;
  bool background_is_data = false;
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;              // per coalition; instances * background_rows makes the plan exact
  std::size_t blocks = 32;              // at most, per partition
  std::vector<std::uint32_t> clusters;  // cluster of each instance, or empty; one cluster stays in one block
  // A plan that grows: draws before `first` were made before, in the same order; the third partition is of
  // slices.
  bool grows = false;
  std::uint64_t first = 0;
};

class DrawPlan {
 public:
  // REQUIRES: 1 <= draws <= instances * background_rows
  explicit DrawPlan(const DrawOptions& options);

  bool exact() const { return exact_; }
  std::uint64_t draws() const { return options_.draws; }
  std::size_t instance_blocks() const { return positions_.size(); }
  std::size_t background_blocks() const { return background_rows_.size(); }
  std::size_t round_blocks() const { return round_blocks_; }  // 0 in exact mode

  // The draws of an instance block from `first` on: how many, and a stretch of them in work order.
  std::uint64_t block_draws(std::size_t instance_block) const;
  void fill(std::size_t instance_block, std::uint64_t begin, std::span<Draw> out) const;

  // One draw of a sampled plan by its index.
  Draw at(std::uint64_t draw) const {
    return sampled(draw / options_.instances, static_cast<std::uint32_t>(draw % options_.instances));
  }

  // The instance block of the instance that draws p, p + N, p + 2 N, .. are of.
  std::size_t block_of(std::size_t position) const;

  // Draws per block of each partition.
  struct Weights {
    std::vector<std::uint64_t> instance, background, round;
  };
  Weights weights() const;

  // True if no instance and no background row is in two draws.
  bool all_distinct() const { return rounds_ == 1 && options_.instances <= options_.background_rows; }

 private:
  std::uint64_t draws_before(std::size_t instance_block, std::uint64_t draw) const;
  bool by_rounds() const { return rounds_ >= 8 && !options_.grows; }
  Draw sampled(std::uint64_t round, std::uint32_t position) const;
  void fill_exact(std::size_t instance_block, std::uint64_t begin, std::span<Draw> out) const;
  void fill_sampled(std::size_t instance_block, std::uint64_t begin, std::span<Draw> out) const;

  DrawOptions options_;
  bool exact_;
  std::vector<std::uint32_t> order_;                         // q
  std::vector<std::vector<std::uint32_t>> positions_;        // in q, of each instance block, ascending
  std::vector<std::uint32_t> background_order_;              // perm
  std::vector<std::uint32_t> offset_;                        // a, by instance
  std::vector<std::uint32_t> background_block_;              // of a background row
  std::vector<std::vector<std::uint32_t>> background_rows_;  // of a background block
  std::size_t round_blocks_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace hifi
