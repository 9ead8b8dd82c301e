// The inner loops of the tree lattice: all 2^n margins of one (instance, background row) pair.
//
// A leaf asks some players to come from the instance and some from the background. Per row and leaf a mask
// says which players' values leave the leaf's path: `x` of the instance, `z` of the background row. The leaf
// is reached by coalition S iff every player of S is clean in x and every other one is clean in z, that is
// iff S contains A = z's mask and avoids B = x's mask; some S does iff A & B = 0.
//
// Leaves are integers (fixed point), summed modulo 2^32: exact, so neither the order of the sums nor the
// cancellation of signed terms costs a bit, and contexts that are equal stay equal.
//
// Bits of a mask, from the lowest: three players are the lanes of a vector; the next `ternary` players have
// three cells each (not asked, in S, not in S); the rest have signed terms, sum over T of B of
// (-1)^|T| [A + T in S], and one subset-sum transform. Compiled twice, for the baseline and for AVX2, and
// chosen at run time; both give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/tree_ensemble.h"

namespace hifi {

struct LatticeShape {
  unsigned bits = 0;     // players, at least kLaneBits
  unsigned ternary = 0;  // players with three cells each

  static constexpr unsigned kLaneBits = 3;
  unsigned rest() const { return bits - kLaneBits - ternary; }
  std::size_t cells() const { return std::size_t{1} << bits; }
  std::size_t ternary_cells() const {
    std::size_t cells = 1;
    for (unsigned t = 0; t < ternary; ++t) cells *= 3;
    return cells;
  }
  // Integers that deposit() fills; the margins themselves if nothing is ternary.
  std::size_t deposit_cells() const { return (std::size_t{1} << rest()) * ternary_cells() << kLaneBits; }
  // Integers that a PairSpace takes.
  std::size_t pair_cells() const {
    return cells() + (rest() == 0 ? 2 * deposit_cells() : ternary > 0 ? deposit_cells() : 0) + 16;
  }
};

// A leaf with so many signed terms that its cells are cheaper filled one by one.
struct LateLeaf {
  std::uint32_t a, b;
  std::uint32_t value;
};

// A leaf's place in the deposit by the lanes and ternary players of its masks: the sum of both numbers is
// which lanes it fills (low 6 bits) and its ternary cell.
struct LowKeys {
  explicit LowKeys(const LatticeShape& shape);
  std::vector<std::uint32_t> of_z, of_x;
};

// Room for one pair and one output.
struct PairSpace {
  explicit PairSpace(const LatticeShape& shape);

  std::vector<std::uint32_t> margins;  // 2^bits, and a vector that is written but not read
  std::vector<std::uint32_t> deposit;  // likewise; empty if it is in the margins; twice without signed terms
  std::vector<LateLeaf> late;
  LowKeys keys;
};

// A tree as its masks need it.
struct MaskTree {
  std::span<const EnsembleTree::Split> splits;
  std::size_t leaves;
  std::size_t first_leaf;  // in a row of masks
};

// Cells of a block: what is finished at a time, so that it stays in the L1 cache.
inline constexpr unsigned kBlockBits = 12;

enum class LossKernel { squared, absolute, minus };

struct TreeKernels {
  // Sets space.margins to the sums of leaves, but for the transform over the bits below kBlockBits.
  // `leaves` is a multiple of 32; masks have `mask_bytes` (1, 2 or 4) each.
  void (*deposit)(const LatticeShape& shape, unsigned mask_bytes, const void* x, const void* z,
                  const std::uint32_t* values, std::size_t leaves, PairSpace& space);
  // The rest of the transform for cells [first, first + min(2^bits, 2^kBlockBits)).
  void (*finish)(const LatticeShape& shape, std::size_t first, PairSpace& space);
  // d = margin * scale - truth; adds its loss to sums[c], the loss squared to squares[c] (may be null).
  void (*add_loss)(LossKernel loss, const std::uint32_t* margins, std::size_t count, float scale, float truth,
                   float* sums, float* squares);
  // Writes the masks of a tree's leaves into `count` rows. `right` and `bits` begin at the tree's first
  // split; `space` has room for TreeEnsemble::kRows numbers per split and leaf.
  void (*masks)(const MaskTree& tree, unsigned mask_bytes, const std::uint8_t* right, std::uint32_t root,
                const std::uint32_t* bits, std::uint32_t* space, void* const* rows, std::size_t count);
};

const TreeKernels& tree_kernels();
// The baseline alone, for tests.
const TreeKernels& baseline_tree_kernels();

}  // namespace hifi
