// Local shapes around a context: which coalitions to evaluate there, and what follows from their losses.
#pragma once

#include <span>

#include "sampling/search_state.h"

namespace hifi {

// {i} and full minus i of each player.
void evaluate_ends(SearchState& state, std::span<const std::uint32_t> players);

// All coalitions within two flips of the centre, among `players`: 1 + m + m(m-1)/2 evaluations give every
// gain at the centre and beside it, and every Delta at the centre.
void evaluate_ball(SearchState& state, const Coalition& centre, std::span<const std::uint32_t> players);

// Who changes the gain of `player` at this context: each other player flips once, with and without it.
void evaluate_row(SearchState& state, std::uint32_t player, const Coalition& context,
                  std::span<const std::uint32_t> players);

// The centre and one flip of each player of the game.
void evaluate_star(SearchState& state, const Coalition& centre);

}  // namespace hifi
