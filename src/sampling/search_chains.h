// Discovery: the loss along a chain of coalitions is bisected only where it moves.
#pragma once

#include <cstddef>
#include <span>

#include "sampling/search_state.h"

namespace hifi {

struct ChainChange {
  double total = 0;       // sum of |change| over the first segments
  double unresolved = 0;  // the part of it that was not traced to single players
};

// The chain flips `order` one by one, starting at `base`. Begins with `segments` equal stretches and spends
// at most about `most` evaluations, on the largest changes first. Notes the gains that it meets.
ChainChange bisect_chain(SearchState& state, const Coalition& base, std::span<const std::uint32_t> order,
                         std::size_t segments, std::size_t most);

// Random permutations and their reverses until four in a row show nobody new or a quarter of the budget is
// spent. Returns false if the game has no small set of active players.
bool discover_by_chains(SearchState& state);

}  // namespace hifi
