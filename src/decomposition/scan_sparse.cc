// Output sensitive: what is enumerated are the edges (C, C+i) and the diamonds (C, C+i, C+j, C+ij)
// that were seen, never all players or pairs of every coalition but for one hash test each.
#include <algorithm>
#include <cmath>
#include <limits>

#include "decomposition/scan.h"
#include "decomposition/scan_parts.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class PlainLosses : public CellValues {
 public:
  explicit PlainLosses(std::span<const double> losses) : losses_(losses) {}

  std::optional<double> gain(std::uint32_t context, std::uint32_t with) const override {
    return losses_[context] - losses_[with];
  }
  // As a difference of gains: a player that changes no loss gets an exact 0.
  std::optional<double> mixed(std::uint32_t c, std::uint32_t i, std::uint32_t j,
                              std::uint32_t both) const override {
    return (losses_[j] - losses_[both]) - (losses_[c] - losses_[i]);
  }
  double scale() const override {
    double largest = 0;
    for (const double loss : losses_) largest = std::max(largest, std::abs(loss));
    return largest;
  }

 private:
  std::span<const double> losses_;
};

struct Scan {
  std::size_t players;
  const SeenLattice& lattice;
  const CellValues& values;
  double tolerance;
  const PairSelection& selection;

  Context context(std::size_t cell) const { return lattice.coalition(cell).members(); }
};

FeatureProfile scan_player(const Scan& scan, std::uint32_t player) {
  GainFinding found;
  std::vector<double> gains;
  std::vector<std::uint32_t> contexts;
  for (const SeenLattice::Edge& edge : scan.lattice.edges(player)) {
    const auto gain = scan.values.gain(scan.lattice.place(edge.below), scan.lattice.place(edge.above));
    if (!gain) continue;
    gains.push_back(*gain);
    contexts.push_back(edge.below);
  }
  found.contexts = gains.size();
  if (gains.empty()) return feature_profile(scan.players, player, std::move(found));
  found.lowest = *std::min_element(gains.begin(), gains.end());
  found.highest = *std::max_element(gains.begin(), gains.end());
  if (scan.lattice.coalition(contexts.front()).count() == 0) found.alone = gains.front();
  if (scan.lattice.coalition(contexts.back()).count() == scan.players - 1) found.last = gains.back();

  const double low = tie_threshold(-found.lowest, scan.tolerance);
  const double high = tie_threshold(found.highest, scan.tolerance);
  const auto lowest = std::find_if(gains.begin(), gains.end(), [&](double gain) { return -gain >= low; });
  const auto highest = std::find_if(gains.begin(), gains.end(), [&](double gain) { return gain >= high; });
  found.lowest_context = scan.context(contexts[static_cast<std::size_t>(lowest - gains.begin())]);
  found.highest_context = scan.context(contexts[static_cast<std::size_t>(highest - gains.begin())]);
  found.quantiles = gain_quantiles(gains);
  return feature_profile(scan.players, player, std::move(found));
}

// visit(j, cell of C, D_ij(C)) for all diamonds of the player i with wanted players j > i.
template <class Visit>
void for_each_difference(const Scan& scan, std::uint32_t i, Visit visit) {
  scan.lattice.for_each_diamond(i, [&](std::uint32_t j, std::uint32_t c, std::uint32_t with_i,
                                       std::uint32_t with_j, std::uint32_t with_both) {
    if (!wants_pair(scan.selection, i, j)) return;
    const auto place = [&](std::uint32_t cell) { return scan.lattice.place(cell); };
    const auto d = scan.values.mixed(place(c), place(with_i), place(with_j), place(with_both));
    if (d) visit(j, c, *d);
  });
}

std::vector<PairExtremes> scan_pairs_of(const Scan& scan, std::uint32_t i) {
  std::vector<PairExtremes> row(scan.players);
  for_each_difference(scan, i, [&](std::uint32_t j, std::uint32_t, double d) {
    PairExtremes& pair = row[j];
    pair.first = i;
    pair.second = j;
    pair.lowest = pair.contexts == 0 ? d : std::min(pair.lowest, d);
    pair.highest = pair.contexts == 0 ? d : std::max(pair.highest, d);
    ++pair.contexts;
  });
  std::erase_if(row, [](const PairExtremes& pair) { return pair.contexts == 0; });
  return row;
}

// Fills in the contexts of the listed pairs whose first player is i; `listed` holds their places in the list.
void find_pair_contexts(const Scan& scan, std::uint32_t i, std::span<const std::uint32_t> listed,
                        const std::vector<PairExtremes>& pairs, std::vector<PairContexts>& contexts) {
  struct Search {
    std::uint32_t place = kNone;
    double synergy = std::numeric_limits<double>::infinity();  // the threshold; infinite when found
    double redundancy = std::numeric_limits<double>::infinity();
  };
  std::vector<Search> searches(scan.players);
  for (const std::uint32_t place : listed) {
    const PairExtremes& pair = pairs[place];
    Search& search = searches[pair.second];
    search.place = place;
    if (pair.synergy() > 0) search.synergy = positive_tie_threshold(pair.highest, scan.tolerance);
    if (pair.redundancy() > 0) search.redundancy = positive_tie_threshold(-pair.lowest, scan.tolerance);
  }
  for_each_difference(scan, i, [&](std::uint32_t j, std::uint32_t cell, double d) {
    Search& search = searches[j];
    if (d >= search.synergy) {
      contexts[search.place].synergy = scan.context(cell);
      search.synergy = std::numeric_limits<double>::infinity();
    }
    if (-d >= search.redundancy) {
      contexts[search.place].redundancy = scan.context(cell);
      search.redundancy = std::numeric_limits<double>::infinity();
    }
  });
}

std::vector<PairProfile> scan_pairs(const Scan& scan, Workers& workers) {
  if (scan.selection.kind == PairSelection::Kind::none) return {};
  std::vector<std::vector<PairExtremes>> rows(scan.players);
  workers.parallel_for(scan.players,
                       [&](std::size_t i) { rows[i] = scan_pairs_of(scan, static_cast<std::uint32_t>(i)); });
  std::vector<PairExtremes> seen;
  for (const auto& row : rows) seen.insert(seen.end(), row.begin(), row.end());
  const std::vector<PairExtremes> listed = select_pairs(scan.players, scan.selection, seen);

  std::vector<std::vector<std::uint32_t>> places(scan.players);
  for (std::uint32_t place = 0; place < listed.size(); ++place) {
    if (listed[place].contexts > 0) places[listed[place].first].push_back(place);
  }
  std::vector<PairContexts> contexts(listed.size());
  workers.parallel_for(scan.players, [&](std::size_t i) {
    if (!places[i].empty())
      find_pair_contexts(scan, static_cast<std::uint32_t>(i), places[i], listed, contexts);
  });
  std::vector<PairProfile> profiles;
  profiles.reserve(listed.size());
  for (std::size_t k = 0; k < listed.size(); ++k) {
    profiles.push_back(pair_profile(listed[k], std::move(contexts[k])));
  }
  return profiles;
}

}  // namespace

ScanResult scan_sparse(const SeenLattice& lattice, const CellValues& values, const ScanOptions& options,
                       Workers& workers) {
  const std::size_t players = lattice.players();
  const Scan scan{players, lattice, values, options.tie_tolerance * values.scale(), options.pairs};
  ScanResult result;
  result.features.resize(players);
  workers.parallel_for(
      players, [&](std::size_t i) { result.features[i] = scan_player(scan, static_cast<std::uint32_t>(i)); });
  result.pairs = scan_pairs(scan, workers);
  return result;
}

ScanResult scan_sparse(const SeenLattice& lattice, std::span<const double> losses, const ScanOptions& options,
                       Workers& workers) {
  return scan_sparse(lattice, PlainLosses(losses), options, workers);
}

ScanResult scan_sparse(std::size_t players, const LossMap& losses, const ScanOptions& options,
                       Workers& workers) {
  std::vector<Coalition> coalitions;
  std::vector<double> values;
  for (const auto& [coalition, loss] : losses) {
    coalitions.push_back(coalition);
    values.push_back(loss);
  }
  return scan_sparse(SeenLattice(players, coalitions, workers), values, options, workers);
}

}  // namespace hifi
