#include "sampling/search_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sampling/search_around.h"

namespace hifi {

namespace {

// 2^players, or infinity where nobody could afford it.
double lattice_size(std::size_t players) {
  return std::ldexp(1, static_cast<int>(std::min<std::size_t>(players, 1000)));
}

const Coalition& strongest_context(const SearchState& state, std::uint32_t player) {
  const BestContexts& best = state.best_gain[player];
  const auto strength = [](const BestContext& b) { return std::isfinite(b.value) ? std::abs(b.value) : -1; };
  return strength(best[0]) >= strength(best[1]) ? best[0].context : best[1].context;
}

// A context that needs some active players in and some out tells of interactions; those rows come first.
PlayerList by_promise(const SearchState& state, const PlayerList& active) {
  const auto is_mixed = [&](std::uint32_t i) {
    const Coalition& context = strongest_context(state, i);
    const auto in = std::ranges::count_if(active, [&](std::uint32_t j) { return context.contains(j); });
    return in > 0 && static_cast<std::size_t>(in) + 1 < active.size();
  };
  PlayerList order = active;
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return state.strongest[a] > state.strongest[b]; });
  std::stable_partition(order.begin(), order.end(), is_mixed);
  return order;
}

}  // namespace

void enumerate_block(SearchState& state, PlayerList block, bool others_in) {
  std::ranges::sort(block);
  if (state.enumerated.contains({block, others_in})) return;
  Coalition start = others_in ? state.full() : state.empty();
  for (const std::uint32_t i : block) start.erase(i);
  const std::size_t patterns = std::size_t{1} << block.size();
  std::vector<Coalition> wanted(patterns, start);
  for (std::size_t p = 1; p < patterns; ++p) {
    wanted[p] = wanted[p & (p - 1)];
    wanted[p].insert(block[static_cast<std::size_t>(std::countr_zero(p))]);
  }
  const std::vector<double> loss = state.store.losses(wanted);
  state.enumerated.insert({block, others_in});
  for (std::size_t a = 0; a < block.size(); ++a) {
    const std::size_t x = std::size_t{1} << a;
    std::size_t low = 0, high = 0;
    for (std::size_t c = 0; c < patterns; ++c) {
      if (c & x) continue;
      const double gain = loss[c] - loss[c | x];
      if (gain < loss[low] - loss[low | x]) low = c;
      if (gain > loss[high] - loss[high | x]) high = c;
    }
    for (const std::size_t c : {low, high}) state.note_gain(block[a], wanted[c], loss[c] - loss[c | x]);
  }
}

void find_partners(SearchState& state, const PlayerList& active) {
  const auto stop =
      state.store.size() + static_cast<std::size_t>(.6 * static_cast<double>(state.store.left()));
  std::vector<bool> settled(state.options.players);
  for (const std::uint32_t i : by_promise(state, active)) {
    if (state.store.size() > stop) return;
    if (settled[i] || state.component(i, active).size() > kSmallBlock) continue;
    evaluate_row(state, i, Coalition(strongest_context(state, i)), active);
    const PlayerList block = state.component(i, active);
    if (block.size() < 2 ||
        lattice_size(block.size()) > std::max(64., .2 * static_cast<double>(state.store.left()))) {
      continue;
    }
    enumerate_block(state, block, false);
    for (const std::uint32_t j : block) settled[j] = true;
  }
}

void enumerate_components(SearchState& state, const PlayerList& active) {
  for (const std::uint32_t i : active) {
    const PlayerList block = state.component(i, active);
    if (block.size() < 2 || block.front() != i) continue;  // once per component
    if (2 * lattice_size(block.size()) > .3 * static_cast<double>(state.store.left())) continue;
    enumerate_block(state, block, false);
    enumerate_block(state, block, true);
  }
}

PlayerList largest_component(const SearchState& state, const PlayerList& active) {
  PlayerList largest;
  for (const std::uint32_t i : active) {
    PlayerList block = state.component(i, active);
    if (block.size() > largest.size()) largest = std::move(block);
  }
  return largest;
}

void enumerate_strongest(SearchState& state, const PlayerList& active) {
  PlayerList largest = largest_component(state, active);
  if (largest.size() <= kSmallBlock) return;
  std::ranges::stable_sort(
      largest, [&](std::uint32_t a, std::uint32_t b) { return state.strongest[a] > state.strongest[b]; });
  const double affordable = std::log2(std::max(1., .6 * static_cast<double>(state.store.left())));
  const std::size_t size = std::min({largest.size(), static_cast<std::size_t>(affordable), std::size_t{24}});
  if (size < kSmallBlock) return;
  largest.resize(size);
  enumerate_block(state, largest, false);
}

}  // namespace hifi
