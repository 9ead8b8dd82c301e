// Blocks: players that interact, enumerated where that is affordable.
#pragma once

#include "sampling/search_state.h"

namespace hifi {

inline constexpr std::size_t kSmallBlock = 8;

PlayerList largest_component(const SearchState& state, const PlayerList& active);

// All patterns of the block while every other player is out, or in. REQUIRES: at most 30 players
void enumerate_block(SearchState& state, PlayerList block, bool others_in);

// A row at the best context of each player that is not yet in an enumerated block; components that are small
// against what is left of the budget are enumerated as soon as they show.
void find_partners(SearchState& state, const PlayerList& active);

// Components of at most a third of what is left, with the others out and in.
void enumerate_components(SearchState& state, const PlayerList& active);

// The largest component, if it is too large to enumerate: the lattice of its strongest players.
void enumerate_strongest(SearchState& state, const PlayerList& active);

}  // namespace hifi
