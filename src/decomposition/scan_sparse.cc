// Output sensitive: what is enumerated are the edges (C, C+i) and the diamonds (C, C+i, C+j, C+ij)
// that were seen, never all players or pairs of every coalition but for one hash test each.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/random.h"
#include "decomposition/scan.h"
#include "decomposition/scan_parts.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kCellsPerTask = 512;

struct Cell {
  const Coalition* coalition;
  double loss;
  std::uint64_t key;
};

struct Edge {
  std::uint32_t player;
  std::uint32_t above;  // the cell of C + player
};

// The seen part of the lattice. Cells are numbered in the order of contexts, so that the smaller
// of two tied contexts is the one with the smaller number.
class SeenLattice {
 public:
  SeenLattice(std::size_t players, const LossMap& losses, Workers& workers) : players_(players) {
    number_cells(losses);
    build_index();
    find_edges(workers);
  }

  std::size_t size() const { return cells_.size(); }
  const Cell& cell(std::size_t index) const { return cells_[index]; }
  // The edges upwards from a cell, by player.
  std::span<const Edge> above(std::size_t cell) const {
    return {edges_.data() + begin_[cell], begin_[cell + 1] - begin_[cell]};
  }

 private:
  void number_cells(const LossMap& losses);
  void build_index();
  void find_edges(Workers& workers);
  void find_edges_from(std::size_t cell, std::vector<Edge>& found) const;
  std::uint32_t find_above(const Cell& cell, std::size_t player) const;

  std::size_t players_;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> begin_;
  std::vector<Edge> edges_;
  // Zobrist hashing: the key of a coalition is the xor of its players' random keys, so that the key
  // of C + i is one xor away. A match is verified; the keys decide speed, never the answer.
  std::vector<std::uint64_t> player_keys_;
  std::vector<std::uint32_t> slots_;   // open addressing on the low bits of the key
  std::vector<std::uint64_t> filter_;  // one bit per key by its high bits: most misses end here
  unsigned filter_shift_ = 0;
};

void SeenLattice::number_cells(const LossMap& losses) {
  if (losses.size() >= kNone) throw Error(ErrorCode::bug, "more coalitions than cell numbers");
  player_keys_.resize(players_);
  for (std::uint32_t i = 0; i < players_; ++i) {
    const auto bits = philox4x32({i, 0, 0, 0}, {0, 0});
    player_keys_[i] = std::uint64_t{bits[0]} << 32 | bits[1];
  }
  cells_.reserve(losses.size());
  for (const auto& [coalition, loss] : losses) {
    std::uint64_t key = 0;
    for (std::size_t w = 0; w < coalition.words(); ++w) {
      for (std::uint64_t members = coalition.word(w); members != 0; members &= members - 1) {
        key ^= player_keys_[w * 64 + static_cast<std::size_t>(std::countr_zero(members))];
      }
    }
    cells_.push_back({&coalition, loss, key});
  }
  std::sort(cells_.begin(), cells_.end(),
            [](const Cell& a, const Cell& b) { return *a.coalition < *b.coalition; });
}

void SeenLattice::build_index() {
  const std::size_t capacity = std::bit_ceil(2 * cells_.size() + 2);
  slots_.assign(capacity, kNone);
  const std::size_t filter_bits = 8 * capacity;
  filter_.assign((filter_bits + 63) / 64, 0);
  filter_shift_ = static_cast<unsigned>(64 - std::countr_zero(filter_bits));
  for (std::uint32_t index = 0; index < cells_.size(); ++index) {
    const std::uint64_t key = cells_[index].key;
    std::size_t slot = key & (capacity - 1);
    while (slots_[slot] != kNone) slot = (slot + 1) & (capacity - 1);
    slots_[slot] = index;
    const std::uint64_t bit = key >> filter_shift_;
    filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

// True if `above` is `below` plus the player.
bool is_one_more(const Coalition& below, const Coalition& above, std::size_t player) {
  for (std::size_t w = 0; w < below.words(); ++w) {
    const std::uint64_t added = w == player / 64 ? std::uint64_t{1} << (player % 64) : 0;
    if ((below.word(w) | added) != above.word(w)) return false;
  }
  return true;
}

// REQUIRES: the cell lacks the player
std::uint32_t SeenLattice::find_above(const Cell& cell, std::size_t player) const {
  const std::uint64_t key = cell.key ^ player_keys_[player];
  const std::uint64_t bit = key >> filter_shift_;
  if (((filter_[bit / 64] >> (bit % 64)) & 1U) == 0) return kNone;
  for (std::size_t slot = key & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t index = slots_[slot];
    if (index == kNone) return kNone;
    if (cells_[index].key == key && is_one_more(*cell.coalition, *cells_[index].coalition, player)) {
      return index;
    }
  }
}

void SeenLattice::find_edges_from(std::size_t index, std::vector<Edge>& found) const {
  const Cell& cell = cells_[index];
  for (std::size_t w = 0; w < cell.coalition->words(); ++w) {
    for (std::uint64_t absent = ~cell.coalition->word(w); absent != 0; absent &= absent - 1) {
      const std::size_t player = w * 64 + static_cast<std::size_t>(std::countr_zero(absent));
      if (player >= players_) break;
      const std::uint32_t above = find_above(cell, player);
      if (above != kNone) found.push_back({static_cast<std::uint32_t>(player), above});
    }
  }
}

void SeenLattice::find_edges(Workers& workers) {
  const std::size_t tasks = (cells_.size() + kCellsPerTask - 1) / kCellsPerTask;
  std::vector<std::vector<Edge>> parts(tasks);
  begin_.assign(cells_.size() + 1, 0);
  workers.parallel_for(tasks, [&](std::size_t task) {
    const std::size_t end = std::min(cells_.size(), (task + 1) * kCellsPerTask);
    for (std::size_t cell = task * kCellsPerTask; cell < end; ++cell) {
      const std::size_t before = parts[task].size();
      find_edges_from(cell, parts[task]);
      begin_[cell + 1] = parts[task].size() - before;
    }
  });
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) begin_[cell + 1] += begin_[cell];
  edges_.reserve(begin_.back());
  for (const auto& part : parts) edges_.insert(edges_.end(), part.begin(), part.end());
}

struct PlayerEdge {
  std::uint32_t below;
  std::uint32_t above;
};

// The same edges by player; the contexts of one player in increasing order.
struct EdgesByPlayer {
  std::vector<std::uint64_t> begin;
  std::vector<PlayerEdge> edges;

  EdgesByPlayer(std::size_t players, const SeenLattice& lattice) : begin(players + 1) {
    for (std::size_t cell = 0; cell < lattice.size(); ++cell) {
      for (const Edge& edge : lattice.above(cell)) ++begin[edge.player + 1];
    }
    for (std::size_t i = 0; i < players; ++i) begin[i + 1] += begin[i];
    edges.resize(begin.back());
    std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t cell = 0; cell < lattice.size(); ++cell) {
      for (const Edge& edge : lattice.above(cell)) {
        edges[next[edge.player]++] = {static_cast<std::uint32_t>(cell), edge.above};
      }
    }
  }
  std::span<const PlayerEdge> of(std::size_t player) const {
    return {edges.data() + begin[player], begin[player + 1] - begin[player]};
  }
};

struct Scan {
  std::size_t players;
  const SeenLattice& lattice;
  const EdgesByPlayer& by_player;
  double tolerance;
  const PairSelection& selection;

  double loss(std::size_t cell) const { return lattice.cell(cell).loss; }
  Context context(std::size_t cell) const { return lattice.cell(cell).coalition->members(); }
};

FeatureProfile scan_player(const Scan& scan, std::uint32_t player) {
  GainFinding found;
  const auto edges = scan.by_player.of(player);
  found.contexts = edges.size();
  if (edges.empty()) return feature_profile(scan.players, player, std::move(found));
  std::vector<double> gains;
  gains.reserve(edges.size());
  for (const PlayerEdge& edge : edges) gains.push_back(scan.loss(edge.below) - scan.loss(edge.above));
  found.lowest = *std::min_element(gains.begin(), gains.end());
  found.highest = *std::max_element(gains.begin(), gains.end());
  if (scan.lattice.cell(edges.front().below).coalition->count() == 0) found.alone = gains.front();
  if (scan.lattice.cell(edges.back().below).coalition->count() == scan.players - 1) found.last = gains.back();

  const double low = tie_threshold(-found.lowest, scan.tolerance);
  const double high = tie_threshold(found.highest, scan.tolerance);
  const auto lowest = std::find_if(gains.begin(), gains.end(), [&](double gain) { return -gain >= low; });
  const auto highest = std::find_if(gains.begin(), gains.end(), [&](double gain) { return gain >= high; });
  found.lowest_context = scan.context(edges[static_cast<std::size_t>(lowest - gains.begin())].below);
  found.highest_context = scan.context(edges[static_cast<std::size_t>(highest - gains.begin())].below);
  found.quantiles = gain_quantiles(gains);
  return feature_profile(scan.players, player, std::move(found));
}

// visit(j, cell of C, D_ij(C)) for all diamonds of the player i with players j > i, C in increasing order.
// A diamond needs j among the edges upwards of both C and C+i: the shorter list is walked and the
// longer one searched, so that {} with its hundreds of neighbours costs no more than what it yields.
template <class Visit>
void for_each_diamond(const Scan& scan, std::uint32_t i, Visit visit) {
  const auto by_player = [](const Edge& edge, std::uint32_t player) { return edge.player < player; };
  for (const PlayerEdge& side : scan.by_player.of(i)) {
    auto shorter = scan.lattice.above(side.below);
    auto longer = scan.lattice.above(side.above);
    const bool swapped = shorter.size() > longer.size();
    if (swapped) std::swap(shorter, longer);
    auto from = longer.begin();
    for (auto edge = std::lower_bound(shorter.begin(), shorter.end(), i + 1, by_player);
         edge != shorter.end(); ++edge) {
      from = std::lower_bound(from, longer.end(), edge->player, by_player);
      if (from == longer.end()) break;
      if (from->player != edge->player || !wants_pair(scan.selection, i, edge->player)) continue;
      const std::uint32_t with_j = swapped ? from->above : edge->above;
      const std::uint32_t with_both = swapped ? edge->above : from->above;
      const double gain_with_j = scan.loss(with_j) - scan.loss(with_both);
      visit(edge->player, side.below, gain_with_j - (scan.loss(side.below) - scan.loss(side.above)));
    }
  }
}

std::vector<PairExtremes> scan_pairs_of(const Scan& scan, std::uint32_t i) {
  std::vector<PairExtremes> row(scan.players);
  for_each_diamond(scan, i, [&](std::uint32_t j, std::uint32_t, double d) {
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
  for_each_diamond(scan, i, [&](std::uint32_t j, std::uint32_t cell, double d) {
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

ScanResult scan_sparse(std::size_t players, const LossMap& losses, const ScanOptions& options,
                       Workers& workers) {
  const SeenLattice lattice(players, losses, workers);
  const EdgesByPlayer by_player(players, lattice);
  double largest = 0;
  for (std::size_t cell = 0; cell < lattice.size(); ++cell) {
    largest = std::max(largest, std::abs(lattice.cell(cell).loss));
  }
  const Scan scan{players, lattice, by_player, options.tie_tolerance * largest, options.pairs};
  ScanResult result;
  result.features.resize(players);
  workers.parallel_for(
      players, [&](std::size_t i) { result.features[i] = scan_player(scan, static_cast<std::uint32_t>(i)); });
  result.pairs = scan_pairs(scan, workers);
  return result;
}

}  // namespace hifi
