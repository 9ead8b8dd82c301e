#include <algorithm>
#include <cmath>

#include "decomposition/scan.h"
#include "decomposition/scan_parts.h"

namespace hifi {

namespace {

Context members(std::uint64_t mask) { return Coalition::from_mask(64, mask).members(); }

struct Table {
  std::size_t players;
  std::span<const double> losses;
  double tolerance;

  double gain(std::size_t i, std::uint64_t c) const { return losses[c] - losses[c | std::uint64_t{1} << i]; }
  double mixed(std::size_t i, std::size_t j, std::uint64_t c) const {
    return gain(i, c | std::uint64_t{1} << j) - gain(i, c);
  }
};

// The smallest of the contexts disjoint from `taken` whose value reaches the threshold.
template <class Value>
std::uint64_t smallest_tie(const Table& table, std::uint64_t taken, double threshold, Value value) {
  std::uint64_t best = ~std::uint64_t{0};
  for (std::uint64_t c = 0; c < table.losses.size(); ++c) {
    if ((c & taken) == 0 && smaller_context(c, best) && value(c) >= threshold) best = c;
  }
  return best;
}

FeatureProfile scan_player(const Table& table, std::size_t i) {
  const std::uint64_t bit = std::uint64_t{1} << i;
  std::vector<double> gains;
  for (std::uint64_t c = 0; c < table.losses.size(); ++c) {
    if ((c & bit) == 0) gains.push_back(table.gain(i, c));
  }
  GainFinding found;
  found.contexts = gains.size();
  found.lowest = *std::min_element(gains.begin(), gains.end());
  found.highest = *std::max_element(gains.begin(), gains.end());
  found.alone = gains.front();
  found.last = gains.back();
  found.lowest_context = members(smallest_tie(table, bit, tie_threshold(-found.lowest, table.tolerance),
                                              [&](std::uint64_t c) { return -table.gain(i, c); }));
  found.highest_context = members(smallest_tie(table, bit, tie_threshold(found.highest, table.tolerance),
                                               [&](std::uint64_t c) { return table.gain(i, c); }));
  found.quantiles = gain_quantiles(gains);
  return feature_profile(table.players, static_cast<std::uint32_t>(i), std::move(found));
}

PairExtremes scan_pair(const Table& table, std::size_t i, std::size_t j) {
  const std::uint64_t taken = std::uint64_t{1} << i | std::uint64_t{1} << j;
  PairExtremes found{.first = static_cast<std::uint32_t>(i), .second = static_cast<std::uint32_t>(j)};
  for (std::uint64_t c = 0; c < table.losses.size(); ++c) {
    if ((c & taken) != 0) continue;
    const double d = table.mixed(i, j, c);
    found.lowest = found.contexts == 0 ? d : std::min(found.lowest, d);
    found.highest = found.contexts == 0 ? d : std::max(found.highest, d);
    ++found.contexts;
  }
  return found;
}

PairContexts pair_contexts(const Table& table, const PairExtremes& pair) {
  const std::uint64_t taken = std::uint64_t{1} << pair.first | std::uint64_t{1} << pair.second;
  PairContexts found;
  if (pair.synergy() > 0) {
    found.synergy =
        members(smallest_tie(table, taken, positive_tie_threshold(pair.highest, table.tolerance),
                             [&](std::uint64_t c) { return table.mixed(pair.first, pair.second, c); }));
  }
  if (pair.redundancy() > 0) {
    found.redundancy =
        members(smallest_tie(table, taken, positive_tie_threshold(-pair.lowest, table.tolerance),
                             [&](std::uint64_t c) { return -table.mixed(pair.first, pair.second, c); }));
  }
  return found;
}

}  // namespace

ScanResult scan_dense(std::size_t players, std::span<const double> losses, const ScanOptions& options,
                      Workers& workers) {
  double largest = 0;
  for (const double loss : losses) largest = std::max(largest, std::abs(loss));
  const Table table{players, losses, options.tie_tolerance * largest};

  ScanResult result;
  result.features.resize(players);
  workers.parallel_for(players, [&](std::size_t i) { result.features[i] = scan_player(table, i); });
  std::vector<PairExtremes> seen;
  for (std::size_t i = 0; i < players; ++i) {
    for (std::size_t j = i + 1; j < players; ++j) {
      if (wants_pair(options.pairs, i, j)) seen.push_back(scan_pair(table, i, j));
    }
  }
  const std::vector<PairExtremes> listed = select_pairs(players, options.pairs, seen);
  result.pairs.resize(listed.size());
  workers.parallel_for(listed.size(), [&](std::size_t k) {
    result.pairs[k] = pair_profile(listed[k], pair_contexts(table, listed[k]));
  });
  return result;
}

}  // namespace hifi
