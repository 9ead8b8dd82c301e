// What the dense and the sparse scan share: from extremes to profiles, ties, quantiles, selection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decomposition/scan.h"
#include "hifi/profile.h"

namespace hifi {

using Context = std::vector<std::uint32_t>;

// gain(i|C) over the contexts seen.
struct GainFinding {
  std::uint64_t contexts = 0;  // 0: nothing below is set
  double lowest = 0;
  double highest = 0;
  Context lowest_context;
  Context highest_context;
  GainQuantiles quantiles;
  std::optional<double> alone;  // gain(i|{})
  std::optional<double> last;   // gain(i|all others)
};

FeatureProfile feature_profile(std::size_t players, std::uint32_t player, GainFinding finding);

// D_ij(C) over the contexts seen, always computed as gain(i|C+j) - gain(i|C) with i < j: a player
// that changes no loss then gets an exact 0, which the four-term sum does not promise.
struct PairExtremes {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  double lowest = 0;
  double highest = 0;
  std::uint64_t contexts = 0;  // 0: never seen

  double synergy() const { return highest > 0 ? highest : 0.0; }
  double redundancy() const { return lowest < 0 ? -lowest : 0.0; }
  double largest() const { return synergy() > redundancy() ? synergy() : redundancy(); }
};

struct PairContexts {
  Context synergy;
  Context redundancy;
};

PairProfile pair_profile(const PairExtremes& extremes, PairContexts contexts);

// Contexts whose value reaches this tie with the maximum.
inline double tie_threshold(double maximum, double tolerance) { return maximum - tolerance; }
// As above, but a context of a pair must itself show the effect: D > 0.
double positive_tie_threshold(double maximum, double tolerance);

// True if the selection needs this pair's extremes at all.
bool wants_pair(const PairSelection& selection, std::size_t first, std::size_t second);

// The pairs to list, in the order of listing. `seen`: the pairs with contexts, by position.
std::vector<PairExtremes> select_pairs(std::size_t players, const PairSelection& selection,
                                       const std::vector<PairExtremes>& seen);

// The 5, 50 and 95 % quantiles are interpolated between order statistics `below` and `below + 1`.
struct QuantilePosition {
  std::uint64_t below = 0;
  double share = 0;  // of the way to the next one
};
std::array<QuantilePosition, 3> quantile_positions(std::uint64_t count);
double interpolate(double below, double above, double share);

// REQUIRES: values not empty; reorders them.
GainQuantiles gain_quantiles(std::span<double> values);

}  // namespace hifi
