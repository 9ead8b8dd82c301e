#include "sampling/search_select.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace hifi {

namespace {

constexpr std::uint32_t kAbsent = SearchStore::kAbsent;

struct GainExtremes {
  std::uint32_t least = kAbsent, largest = kAbsent;  // positions of the contexts
  double low = INFINITY, high = -INFINITY;
  std::size_t contexts = 0;
  double strength() const { return contexts == 0 ? 0 : std::max(std::abs(low), std::abs(high)); }
};

// next[c] = position of coalition c with the player, for contexts c without it.
std::vector<std::uint32_t> steps_of(const SearchStore& store, std::uint32_t player) {
  std::vector<std::uint32_t> next(store.size(), kAbsent);
  for (std::uint32_t c = 0; c < next.size(); ++c) {
    if (!store.coalitions()[c].contains(player)) next[c] = store.flipped(c, player);
  }
  return next;
}

// Coalition by coalition, not player by player: the members of one stay in the cache.
std::vector<GainExtremes> find_extremes(const SearchStore& store, std::size_t players) {
  std::vector<GainExtremes> extremes(players);
  for (std::uint32_t c = 0; c < store.size(); ++c) {
    for (std::size_t i = 0; i < players; ++i) {
      if (store.coalitions()[c].contains(i)) continue;
      const std::uint32_t next = store.flipped(c, i);
      if (next == kAbsent) continue;
      const double gain = store.losses()[c] - store.losses()[next];
      GainExtremes& e = extremes[i];
      ++e.contexts;
      if (gain < e.low) {
        e.low = gain;
        e.least = c;
      }
      if (gain > e.high) {
        e.high = gain;
        e.largest = c;
      }
    }
  }
  return extremes;
}

bool both_ends(const SearchStore& store, std::uint32_t player, std::size_t players) {
  const std::uint32_t empty = store.find(Coalition(players)), full = store.find(Coalition::full(players));
  return empty != kAbsent && full != kAbsent && store.flipped(empty, player) != kAbsent &&
         store.flipped(full, player) != kAbsent;
}

// The largest and the least Delta of two players over the contexts seen with all four corners.
void select_pair(const SearchStore& store, std::uint32_t i, std::uint32_t j,
                 std::span<const std::uint32_t> with_i, std::span<const std::uint32_t> with_j,
                 std::vector<SelectedPair>& pairs) {
  std::uint32_t least = kAbsent, largest = kAbsent;
  double low = INFINITY, high = -INFINITY;
  const std::vector<double>& loss = store.losses();
  for (std::uint32_t c = 0; c < with_i.size(); ++c) {
    if (with_i[c] == kAbsent || with_j[c] == kAbsent) continue;
    const std::uint32_t both = with_j[with_i[c]];
    if (both == kAbsent) continue;
    const double delta = loss[with_i[c]] + loss[with_j[c]] - loss[both] - loss[c];
    if (delta < low) {
      low = delta;
      least = c;
    }
    if (delta > high) {
      high = delta;
      largest = c;
    }
  }
  if (largest == kAbsent) return;
  pairs.push_back({std::min(i, j), std::max(i, j), store.coalitions()[largest], high});
  if (least != largest) pairs.push_back({std::min(i, j), std::max(i, j), store.coalitions()[least], low});
}

void select_pairs(const SearchState& state, Selection& selection) {
  const std::size_t count = std::min(selection.players.size(), state.options.paired_players);
  std::vector<std::vector<std::uint32_t>> steps;
  for (std::size_t k = 0; k < count; ++k) steps.push_back(steps_of(state.store, selection.players[k]));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      select_pair(state.store, selection.players[a], selection.players[b], steps[a], steps[b],
                  selection.pairs);
    }
  }
  std::ranges::stable_sort(selection.pairs, [](const SelectedPair& a, const SelectedPair& b) {
    return std::abs(a.delta) > std::abs(b.delta);
  });
}

// A block is enumerated if some enumerated set holds it whole and nobody else, or more than it.
bool is_enumerated(const SearchState& state, const PlayerList& block, bool others_in) {
  if (block.size() == 1) return true;  // by its ends
  return std::ranges::any_of(state.enumerated, [&](const auto& done) {
    return done.second == others_in && std::ranges::includes(done.first, block);
  });
}

void find_blocks(SearchState& graph, const Selection& selection, SearchResult& result) {
  for (const SelectedPair& pair : selection.pairs)
    graph.note_delta(pair.first, pair.second, pair.context, pair.delta);
  PlayerList sorted = selection.players;
  std::ranges::sort(sorted);
  for (const std::uint32_t i : sorted) {
    if (result.players[i].block != kNoBlock) continue;
    SearchedBlock block{.players = graph.component(i, sorted)};
    const bool ends = block.players.size() > 1 || result.players[i].ends_seen;
    block.enumerated_out = ends && is_enumerated(graph, block.players, false);
    block.enumerated_in = ends && is_enumerated(graph, block.players, true);
    for (const std::uint32_t j : block.players)
      result.players[j].block = static_cast<std::uint32_t>(result.blocks.size());
    result.blocks.push_back(std::move(block));
  }
}

}  // namespace

SearchResult summarise_search(SearchState& state, bool dense) {
  const std::size_t n = state.options.players;
  SearchResult result{.coalitions = state.store.coalitions(),
                      .losses = state.store.losses(),
                      .tolerance = state.tolerance(),
                      .dense = dense,
                      .budget_short = dense && state.options.budget < 5 * n};
  const std::vector<GainExtremes> extremes = find_extremes(state.store, n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const double strength = extremes[i].strength();
    result.players.push_back({.active = strength > result.tolerance,
                              .largest_gain = strength,
                              .contexts = extremes[i].contexts,
                              .quiet_tests = state.quiet_tests[i],
                              .ends_seen = both_ends(state.store, i, n)});
    if (result.players[i].active) result.selection.players.push_back(i);
  }
  Selection& selection = result.selection;
  std::ranges::stable_sort(selection.players, [&](std::uint32_t a, std::uint32_t b) {
    return extremes[a].strength() > extremes[b].strength();
  });
  for (const std::uint32_t i : selection.players) {
    const GainExtremes& e = extremes[i];
    selection.gains.push_back({i, state.store.coalitions()[e.least], e.low});
    selection.gains.push_back({i, state.store.coalitions()[e.largest], e.high});
  }
  select_pairs(state, selection);
  find_blocks(state, selection, result);
  return result;
}

std::vector<Coalition> selected_coalitions(std::size_t players, const Selection& selection,
                                           std::size_t most) {
  std::vector<Coalition> chosen;
  std::unordered_set<Coalition, CoalitionHash> known;
  const auto add = [&](const std::vector<Coalition>& corners) {
    const auto missing = static_cast<std::size_t>(
        std::ranges::count_if(corners, [&](const Coalition& c) { return !known.contains(c); }));
    if (chosen.size() + missing > most) return;
    for (const Coalition& c : corners) {
      if (known.insert(c).second) chosen.push_back(c);
    }
  };
  const Coalition empty(players), full = Coalition::full(players);
  add({empty, full});
  for (const std::uint32_t i : selection.players) add({empty.with(i), full.without(i)});
  for (const SelectedGain& g : selection.gains) add({g.context, g.context.with(g.player)});
  for (const SelectedPair& p : selection.pairs) {
    const Coalition first = p.context.with(p.first);
    add({p.context, first, p.context.with(p.second), first.with(p.second)});
  }
  for (std::size_t i = 0; i < players; ++i) add({empty.with(i), full.without(i)});
  return chosen;
}

}  // namespace hifi
