#include "sampling/search_chains.h"

#include <algorithm>
#include <cmath>

namespace hifi {

namespace {

constexpr std::size_t kFirstSegments = 16;
constexpr std::size_t kQuietChains = 4;
constexpr std::size_t kSparsePlayers = 32;  // more active ones make the game dense
constexpr double kChainShare = .25;

struct Stretch {
  std::size_t begin = 0, end = 0;
  double before = 0, after = 0;
  double change() const { return std::abs(before - after); }
};

Coalition prefix(const Coalition& base, std::span<const std::uint32_t> order, std::size_t length) {
  Coalition result = base;
  for (const std::uint32_t player : order.first(length)) flip(result, player);
  return result;
}

std::vector<double> losses_at(SearchState& state, const Coalition& base, std::span<const std::uint32_t> order,
                              const std::vector<std::size_t>& lengths) {
  std::vector<Coalition> wanted;
  wanted.reserve(lengths.size());
  for (const std::size_t length : lengths) wanted.push_back(prefix(base, order, length));
  return state.store.losses(wanted);
}

// The stretches of the first level that move; the others are group tests without effect.
std::vector<Stretch> first_stretches(SearchState& state, const Coalition& base,
                                     std::span<const std::uint32_t> order, std::size_t segments,
                                     ChainChange& change) {
  std::vector<std::size_t> lengths;
  segments = std::min(segments, order.size());
  for (std::size_t k = 0; k <= segments; ++k) lengths.push_back(k * order.size() / segments);
  const std::vector<double> loss = losses_at(state, base, order, lengths);
  const double least = state.tolerance();
  std::vector<Stretch> moving;
  for (std::size_t k = 0; k < segments; ++k) {
    const Stretch stretch{lengths[k], lengths[k + 1], loss[k], loss[k + 1]};
    change.total += stretch.change();
    if (stretch.change() > least) {
      moving.push_back(stretch);
    } else {
      for (const std::uint32_t i : order.subspan(stretch.begin, stretch.end - stretch.begin))
        ++state.quiet_tests[i];
    }
  }
  return moving;
}

// Notes the stretches of one player and keeps the longer ones.
void settle_single(SearchState& state, const Coalition& base, std::span<const std::uint32_t> order,
                   std::vector<Stretch>& stretches) {
  std::erase_if(stretches, [&](const Stretch& s) {
    if (s.end - s.begin > 1) return false;
    const std::uint32_t player = order[s.begin];
    const double step = s.before - s.after;
    state.note_gain(player, prefix(base, order, s.begin), base.contains(player) ? -step : step);
    return true;
  });
}

}  // namespace

ChainChange bisect_chain(SearchState& state, const Coalition& base, std::span<const std::uint32_t> order,
                         std::size_t segments, std::size_t most) {
  ChainChange change;
  if (order.empty()) return change;
  const std::size_t start = state.store.size();
  std::vector<Stretch> stretches = first_stretches(state, base, order, segments, change);
  for (;;) {
    settle_single(state, base, order, stretches);
    std::ranges::stable_sort(stretches,
                             [](const Stretch& a, const Stretch& b) { return a.change() > b.change(); });
    const std::size_t used = state.store.size() - start;
    const std::size_t room = most > used ? most - used : 0;
    while (stretches.size() > room) {
      change.unresolved += stretches.back().change();
      stretches.pop_back();
    }
    if (stretches.empty()) return change;
    std::vector<std::size_t> middles;
    middles.reserve(stretches.size());
    for (const Stretch& s : stretches) middles.push_back((s.begin + s.end) / 2);
    const std::vector<double> loss = losses_at(state, base, order, middles);
    const double least = state.tolerance();
    std::vector<Stretch> next;
    for (std::size_t k = 0; k < stretches.size(); ++k) {
      const Stretch& s = stretches[k];
      const std::size_t before = next.size();
      for (const Stretch& half :
           {Stretch{s.begin, middles[k], s.before, loss[k]}, Stretch{middles[k], s.end, loss[k], s.after}}) {
        if (half.change() > least) next.push_back(half);
      }
      // Many small effects: no half stands out.
      if (next.size() == before) change.unresolved += s.change();
    }
    stretches = std::move(next);
  }
}

bool discover_by_chains(SearchState& state) {
  const std::size_t n = state.options.players;
  const auto stop =
      state.store.size() + static_cast<std::size_t>(kChainShare * static_cast<double>(state.store.left()));
  ChainChange sum;
  std::size_t quiet = 0, most_seen = 0;
  PlayerList order;
  for (std::size_t chain = 0; quiet < kQuietChains && state.store.size() < stop; ++chain) {
    if (chain % 2 == 0) {
      order = state.random.permutation(n);
    } else {
      std::ranges::reverse(order);
    }
    const std::size_t cap = std::max<std::size_t>(32, std::min(stop - state.store.size(), n / 3 + 32));
    const ChainChange change = bisect_chain(state, state.empty(), order, kFirstSegments, cap);
    sum.total += change.total;
    sum.unresolved += change.unresolved;
    const std::size_t seen = state.count_active();
    quiet = seen <= most_seen ? quiet + 1 : 0;
    most_seen = std::max(most_seen, seen);
    if (chain >= 1 && (sum.unresolved > .5 * sum.total || seen > kSparsePlayers)) return false;
  }
  return true;
}

}  // namespace hifi
