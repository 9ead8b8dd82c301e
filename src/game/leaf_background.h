// A background seen from the leaves of a tree ensemble: how many of its rows leave a leaf's path by which
// players. The mean prediction over the background is linear in these counts, so that an instance meets all
// rows at once (tree_kernels.h has the terms for one row).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "game/tree_layout.h"
#include "game/tree_masks.h"
#include "masking/frame.h"

namespace hifi {

// The sum over background rows of all 2^bits margins of one instance, in fixed point; exact, modulo 2^64.
struct MarginSums {
  explicit MarginSums(const LatticeShape& shape) : cells(shape.cells() + kLanes) {}
  static constexpr std::size_t kLanes = std::size_t{1} << LatticeShape::kLaneBits;
  struct Late {
    std::size_t pattern;
    std::uint32_t avoids;  // as a mask of the instance
  };
  std::vector<std::uint64_t> cells;  // and a vector that is written but not read
  std::vector<Late> late;            // patterns whose cells are cheaper filled one by one
};

class LeafBackground {
 public:
  // Bytes that a background of so many rows takes at most.
  static std::uint64_t most_bytes(const TreeLayout& layout, std::size_t rows);

  // Counts `rows` of the frame, as many at a time as `memory` has room for.
  LeafBackground(const TreeLayout& layout, const Frame& frame, std::span<const std::uint32_t> rows,
                 std::uint64_t memory, Workers& workers);

  // x: masks of an instance (TreeMasks). Fills sums.cells for leaves [begin, end).
  void sum(const std::uint8_t* x, std::size_t begin, std::size_t end, MarginSums& sums) const;

 private:
  const TreeLayout& layout_;
  // Patterns of leaf l are first_[l] .. first_[l + 1] - 1. A pattern is the players beyond the lanes that the
  // row asks for, and per lane leaf value x rows, summed over the rows whose other players are in the lane.
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> asks_;
  std::vector<std::uint64_t> lanes_;
};

}  // namespace hifi
