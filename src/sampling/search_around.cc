#include "sampling/search_around.h"

namespace hifi {

namespace {

// A flip of `player` at `context` changes the loss by after - before.
void note_flip(SearchState& state, std::uint32_t player, const Coalition& context, double before,
               double after) {
  state.note_gain(player, context, context.contains(player) ? after - before : before - after);
}

}  // namespace

void evaluate_ends(SearchState& state, std::span<const std::uint32_t> players) {
  std::vector<Coalition> wanted{state.empty(), state.full()};
  // Player by player: a budget that ends half way leaves whole players.
  for (const std::uint32_t i : players) {
    wanted.push_back(wanted[0].with(i));
    wanted.push_back(wanted[1].without(i));
  }
  const std::vector<double> loss = state.store.losses(wanted);
  for (std::size_t k = 0; k < players.size(); ++k) {
    note_flip(state, players[k], wanted[0], loss[0], loss[2 + 2 * k]);
    note_flip(state, players[k], wanted[1], loss[1], loss[3 + 2 * k]);
  }
}

void evaluate_ball(SearchState& state, const Coalition& centre, std::span<const std::uint32_t> players) {
  const std::size_t m = players.size();
  std::vector<Coalition> wanted{centre};
  wanted.reserve(1 + m + m * m / 2);
  for (const std::uint32_t i : players) wanted.push_back(with_flip(centre, i));
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = a + 1; b < m; ++b) wanted.push_back(with_flip(wanted[1 + a], players[b]));
  }
  const std::vector<double> loss = state.store.losses(wanted);
  for (std::size_t a = 0; a < m; ++a) note_flip(state, players[a], centre, loss[0], loss[1 + a]);
  std::size_t k = 1 + m;
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = a + 1; b < m; ++b, ++k) {
      const std::uint32_t i = players[a], j = players[b];
      note_flip(state, i, wanted[1 + b], loss[1 + b], loss[k]);
      note_flip(state, j, wanted[1 + a], loss[1 + a], loss[k]);
      // The mixed difference of two flips; a flip that removes a player turns its sign.
      const double mixed = loss[1 + a] + loss[1 + b] - loss[k] - loss[0];
      state.note_delta(i, j, centre, centre.contains(i) != centre.contains(j) ? -mixed : mixed);
    }
  }
}

void evaluate_row(SearchState& state, std::uint32_t player, const Coalition& context,
                  std::span<const std::uint32_t> players) {
  const Coalition without = context.without(player), with = context.with(player);
  std::vector<Coalition> wanted{without, with};
  for (const std::uint32_t j : players) {
    if (j == player) continue;
    wanted.push_back(with_flip(without, j));
    wanted.push_back(with_flip(with, j));
  }
  const std::vector<double> loss = state.store.losses(wanted);
  const double gain = loss[0] - loss[1];
  state.note_gain(player, without, gain);
  std::size_t k = 2;
  for (const std::uint32_t j : players) {
    if (j == player) continue;
    const double changed = loss[k] - loss[k + 1];
    state.note_gain(player, wanted[k], changed);
    note_flip(state, j, without, loss[0], loss[k]);
    note_flip(state, j, with, loss[1], loss[k + 1]);
    state.note_delta(player, j, without, without.contains(j) ? gain - changed : changed - gain);
    k += 2;
  }
}

void evaluate_star(SearchState& state, const Coalition& centre) {
  const auto n = static_cast<std::uint32_t>(state.options.players);
  std::vector<Coalition> wanted{centre};
  for (std::uint32_t i = 0; i < n; ++i) wanted.push_back(with_flip(centre, i));
  const std::vector<double> loss = state.store.losses(wanted);
  for (std::uint32_t i = 0; i < n; ++i) note_flip(state, i, centre, loss[0], loss[1 + i]);
}

}  // namespace hifi
