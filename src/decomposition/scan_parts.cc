#include "decomposition/scan_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace hifi {

namespace {

Quantity quantity(double value, std::optional<Context> context) {
  Quantity q;
  q.value = value + 0.0;  // -0 becomes 0: which zero an extremum meets first must not show
  q.plugin = q.value;
  q.context = std::move(context);
  return q;
}

Quantity pair_quantity(double value, Context context) {
  if (value == 0) return quantity(0, std::nullopt);
  return quantity(value, std::move(context));
}

Context all_others(std::size_t players, std::uint32_t player) {
  Context others(players);
  std::iota(others.begin(), others.end(), 0U);
  others.erase(others.begin() + player);
  return others;
}

PairExtremes never_seen(std::size_t first, std::size_t second) {
  return {.first = static_cast<std::uint32_t>(first), .second = static_cast<std::uint32_t>(second)};
}

// All wanted pairs by position, the seen ones with their extremes.
std::vector<PairExtremes> by_position(std::size_t players, const PairSelection& selection,
                                      const std::vector<PairExtremes>& seen) {
  std::vector<PairExtremes> listed;
  auto next = seen.begin();
  for (std::size_t i = 0; i < players; ++i) {
    for (std::size_t j = i + 1; j < players; ++j) {
      const bool is_seen = next != seen.end() && next->first == i && next->second == j;
      if (wants_pair(selection, i, j)) listed.push_back(is_seen ? *next : never_seen(i, j));
      if (is_seen) ++next;
    }
  }
  return listed;
}

// The largest, those that were never seen last; listed by position like all others.
std::vector<PairExtremes> largest(std::size_t players, const PairSelection& selection,
                                  const std::vector<PairExtremes>& seen) {
  std::vector<PairExtremes> listed = seen;
  std::stable_sort(listed.begin(), listed.end(),
                   [](const PairExtremes& a, const PairExtremes& b) { return a.largest() > b.largest(); });
  listed.resize(std::min(listed.size(), selection.top));
  for (const PairExtremes& pair : by_position(players, selection, seen)) {
    if (listed.size() == selection.top) break;
    if (pair.contexts == 0) listed.push_back(pair);
  }
  std::sort(listed.begin(), listed.end(), [](const PairExtremes& a, const PairExtremes& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  return listed;
}

}  // namespace

FeatureProfile feature_profile(std::size_t players, std::uint32_t player, GainFinding finding) {
  FeatureProfile profile;
  profile.contexts_seen = finding.contexts;
  const bool enumerated = players <= 64 && finding.contexts == std::uint64_t{1} << (players - 1);
  profile.basis = enumerated ? "enumerated" : "searched";
  if (finding.contexts == 0) return profile;
  profile.gain = finding.quantiles;
  profile.U = quantity(finding.lowest, std::move(finding.lowest_context));
  profile.Lmax = quantity(finding.highest, std::move(finding.highest_context));
  if (finding.last) profile.last = quantity(*finding.last, all_others(players, player));
  if (finding.alone) {
    profile.pi = quantity(*finding.alone, Context{});
    profile.R = quantity(*finding.alone - finding.lowest, profile.U.context);
    profile.S = quantity(finding.highest - *finding.alone, profile.Lmax.context);
  }
  return profile;
}

PairProfile pair_profile(const PairExtremes& extremes, PairContexts contexts) {
  PairProfile profile;
  profile.first = extremes.first;
  profile.second = extremes.second;
  profile.contexts_seen = extremes.contexts;
  if (extremes.contexts == 0) return profile;
  profile.S = pair_quantity(extremes.synergy(), std::move(contexts.synergy));
  profile.R = pair_quantity(extremes.redundancy(), std::move(contexts.redundancy));
  return profile;
}

double positive_tie_threshold(double maximum, double tolerance) {
  return std::max(tie_threshold(maximum, tolerance), std::numeric_limits<double>::denorm_min());
}

bool wants_pair(const PairSelection& selection, std::size_t first, std::size_t second) {
  switch (selection.kind) {
    case PairSelection::Kind::all:
      return true;
    case PairSelection::Kind::top:
      return selection.top > 0;
    case PairSelection::Kind::with:
      return first == selection.with || second == selection.with;
    case PairSelection::Kind::none:
      return false;
  }
  return false;
}

std::vector<PairExtremes> select_pairs(std::size_t players, const PairSelection& selection,
                                       const std::vector<PairExtremes>& seen) {
  if (selection.kind == PairSelection::Kind::none) return {};
  if (selection.kind == PairSelection::Kind::top) return largest(players, selection, seen);
  return by_position(players, selection, seen);
}

std::array<QuantilePosition, 3> quantile_positions(std::uint64_t count) {
  std::array<QuantilePosition, 3> positions;
  const std::array<double, 3> shares{0.05, 0.5, 0.95};
  for (std::size_t k = 0; k < 3; ++k) {
    const double at = static_cast<double>(count - 1) * shares[k];
    positions[k].below = static_cast<std::uint64_t>(at);
    positions[k].share = at - std::floor(at);
  }
  return positions;
}

double interpolate(double below, double above, double share) {
  // From the nearer end, so that both ends are met exactly.
  const double step = above - below;
  return share < 0.5 ? below + step * share : above - step * (1 - share);
}

GainQuantiles gain_quantiles(std::span<double> values) {
  std::array<double, 3> found{};
  const auto positions = quantile_positions(values.size());
  auto begin = values.begin();
  for (std::size_t k = 0; k < 3; ++k) {
    const auto below = values.begin() + static_cast<std::ptrdiff_t>(positions[k].below);
    std::nth_element(begin, below, values.end());
    // What stands behind an order statistic is not smaller, so its minimum is the next one.
    const double above = below + 1 == values.end() ? *below : *std::min_element(below + 1, values.end());
    found[k] = interpolate(*below, above, positions[k].share) + 0.0;
    begin = below;
  }
  return {found[0], found[1], found[2]};
}

}  // namespace hifi
