// The vocabulary of a run: for every coalition the sum of its losses by instance block, by background block
// and by round block, and the sum of squares. An exhaustive run has every coalition, in the order of masks; a
// searched one has those of its list.
//
// State / update / combine / finalize: a tile is what one instance block contributes; tiles are added in
// the order of the instance blocks, whether they were computed in one run, resumed, or on several machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "game/game.h"

namespace hifi {

struct Lattice {
  std::uint64_t draws = 0;  // per coalition, all blocks together
  std::vector<std::vector<double>> instance;
  BlockSums sums;

  std::size_t size() const { return sums.squares.size(); }

  // All zero. round_blocks = 0: no round partition.
  static Lattice zeros(std::size_t coalitions, std::size_t instance_blocks, std::size_t background_blocks,
                       std::size_t round_blocks);

  // Adds the tile of an instance block. REQUIRES: blocks are added in ascending order
  void add_tile(std::size_t instance_block, const BlockSums& tile);

  // The draws are going to double: every two round blocks become one, the later half is empty.
  void fold_rounds();

  // The mean loss of every coalition: the sum over instance blocks, in order, by the number of draws.
  std::vector<double> means() const;
  // The sample variance of the losses of every coalition (K - 1 in the denominator).
  std::vector<double> variances() const;
};

BlockSums zero_sums(std::size_t coalitions, std::size_t background_blocks, std::size_t round_blocks);

void clear(BlockSums& sums);

// Doubles per coalition that a run holds at its peak.
std::size_t lattice_arrays(std::size_t instance_blocks, std::size_t background_blocks,
                           std::size_t round_blocks);

}  // namespace hifi
