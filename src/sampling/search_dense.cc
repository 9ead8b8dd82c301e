#include "sampling/search_dense.h"

#include <algorithm>
#include <cmath>

#include "sampling/search_around.h"

namespace hifi {

namespace {

constexpr std::size_t kSegments = 16;
constexpr std::size_t kBallPlayers = 16;
constexpr std::size_t kIdleRounds = 20;

// The prefix of a chain before its steepest stretch, refined to a hundredth of the players.
Coalition steepest_context(SearchState& state, const PlayerList& order) {
  const std::size_t n = state.options.players;
  const auto prefix = [&](std::size_t length) {
    Coalition c = state.empty();
    for (std::size_t k = 0; k < length; ++k) c.insert(order[k]);
    return c;
  };
  std::vector<std::size_t> lengths;
  std::vector<Coalition> wanted;
  for (std::size_t k = 0; k <= std::min(kSegments, n); ++k) {
    lengths.push_back(k * n / std::min(kSegments, n));
    wanted.push_back(prefix(lengths.back()));
  }
  std::vector<double> loss = state.store.losses(wanted);
  for (;;) {
    const auto slope = [&](std::size_t k) {
      return std::abs(loss[k + 1] - loss[k]) / static_cast<double>(lengths[k + 1] - lengths[k]);
    };
    std::size_t steepest = 0;
    for (std::size_t k = 1; k + 1 < lengths.size(); ++k) {
      if (slope(k) > slope(steepest)) steepest = k;
    }
    if (lengths[steepest + 1] - lengths[steepest] <= std::max<std::size_t>(2, n / 100)) {
      return prefix(lengths[steepest]);
    }
    const std::size_t middle = (lengths[steepest] + lengths[steepest + 1]) / 2;
    const double found = state.store.losses(std::vector{prefix(middle)})[0];
    const auto at = static_cast<std::ptrdiff_t>(steepest) + 1;
    lengths.insert(lengths.begin() + at, middle);
    loss.insert(loss.begin() + at, found);
  }
}

PlayerList strongest_players(const SearchState& state) {
  PlayerList players(state.options.players);
  for (std::uint32_t i = 0; i < players.size(); ++i) players[i] = i;
  std::ranges::stable_sort(
      players, [&](std::uint32_t a, std::uint32_t b) { return state.strongest[a] > state.strongest[b]; });
  const auto affordable = static_cast<std::size_t>(std::sqrt(static_cast<double>(state.store.left()) / 4));
  players.resize(std::min(players.size(), std::clamp<std::size_t>(affordable, 2, kBallPlayers)));
  return players;
}

void expand(SearchState& state, const Coalition& centre, const PlayerList& players) {
  if (state.expanded.insert(centre).second) evaluate_ball(state, centre, players);
}

// Balls at the two most extreme contexts of the strongest players that have none yet.
void expand_extremes(SearchState& state, const PlayerList& players) {
  std::vector<const BestContext*> open;
  const auto offer = [&](const BestContexts& best) {
    for (const BestContext& b : best) {
      if (std::isfinite(b.value) && !state.expanded.contains(b.context)) open.push_back(&b);
    }
  };
  for (const std::uint32_t i : players) offer(state.best_gain[i]);
  for (const auto& [pair, best] : state.best_delta) {
    if (std::ranges::find(players, pair.first) != players.end()) offer(best);
  }
  std::ranges::stable_sort(open,
                           [](const BestContext* a, const BestContext* b) { return a->value > b->value; });
  std::vector<Coalition> centres;
  for (std::size_t k = 0; k < std::min<std::size_t>(2, open.size()); ++k) centres.push_back(open[k]->context);
  for (const Coalition& centre : centres) expand(state, centre, players);
}

}  // namespace

void search_dense(SearchState& state) {
  const std::size_t n = state.options.players;
  evaluate_ends(state, state.random.permutation(n));
  Coalition centre = state.empty();
  PlayerList order;
  std::size_t idle = 0, stars = 0;
  for (std::size_t round = 0; idle < kIdleRounds; ++round) {
    const std::size_t before = state.store.size();
    if (round % 2 == 0 || state.store.left() > 6 * n) {
      // Forth, then back: players that help only while another one is out meet both.
      if (stars++ % 2 == 0) {
        order = state.random.permutation(n);
      } else {
        std::ranges::reverse(order);
      }
      centre = steepest_context(state, order);
      evaluate_star(state, centre);
    }
    const PlayerList players = strongest_players(state);
    expand(state, centre, players);
    if (round == 1) {
      expand(state, state.empty(), players);
      expand(state, state.full(), players);
    }
    expand_extremes(state, players);
    idle = state.store.size() == before ? idle + 1 : 0;
  }
}

}  // namespace hifi
