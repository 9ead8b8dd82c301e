// Inside the dense scan: the lattice, its contexts cut into blocks, and the search for a tied context.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "decomposition/scan_parts.h"
#include "hifi/coalition.h"

namespace hifi {

constexpr std::uint64_t player_bit(std::size_t player) { return std::uint64_t{1} << player; }

// Spreads the low bits of `value` over the bits of `mask`, in order.
constexpr std::uint64_t deposit(std::uint64_t value, std::uint64_t mask) {
  std::uint64_t result = 0;
  for (; mask != 0 && value != 0; mask &= mask - 1, value >>= 1) {
    if (value & 1U) result |= mask & (~mask + 1);
  }
  return result;
}

struct DenseLattice {
  std::size_t players;
  std::span<const double> losses;
  double tolerance;  // of ties

  std::uint64_t everyone() const { return player_bit(players) - 1; }
  double gain(std::size_t i, std::uint64_t c) const { return losses[c] - losses[c | player_bit(i)]; }
  // REQUIRES: i < j
  double mixed(std::size_t i, std::size_t j, std::uint64_t c) const {
    return gain(i, c | player_bit(j)) - gain(i, c);
  }
};

// The contexts of a player or a pair: a block number spread over `outer`, plus any subset of `inner`.
struct Blocks {
  std::uint64_t inner = 0;
  std::uint64_t outer = 0;
};

// 0 .. 2^bits - 1 in the order of contexts; spreading over a mask keeps that order.
std::vector<std::uint32_t> context_order(int bits);

// The smallest context whose value reaches the threshold. block_maximum(b) is the largest value in
// block b, so only blocks that hold a tie are read; they come in the order of their smallest contexts,
// so the search ends as soon as no later block can do better (at once where everything ties).
template <class BlockMaximum, class Value>
Context smallest_tie(const Blocks& blocks, const std::vector<std::uint32_t>& order, double threshold,
                     BlockMaximum block_maximum, Value value) {
  std::uint64_t best = ~std::uint64_t{0};
  for (const std::uint32_t block : order) {
    if (!(block_maximum(block) >= threshold)) continue;
    const std::uint64_t base = deposit(block, blocks.outer);
    if (!smaller_context(base, best)) break;
    std::uint64_t part = 0;
    do {
      const std::uint64_t c = base | part;
      if (value(c) >= threshold && smaller_context(c, best)) best = c;
      part = (part - blocks.inner) & blocks.inner;  // the next subset of inner
    } while (part != 0);
  }
  return Coalition::from_mask(64, best).members();
}

// The profiles of all players.
std::vector<FeatureProfile> scan_dense_gains(const DenseLattice& lattice, Workers& workers);

// The pairs that the selection wants, with their contexts.
std::vector<PairProfile> scan_dense_pairs(const DenseLattice& lattice, const PairSelection& selection,
                                          Workers& workers);

}  // namespace hifi
