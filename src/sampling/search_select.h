// From the coalitions seen to the result: per player and pair the extreme contexts, blocks and what was
// tested.
#pragma once

#include "sampling/search_state.h"

namespace hifi {

// Completes the pairs of `state` from all coalitions seen.
SearchResult summarise_search(SearchState& state, bool dense);

}  // namespace hifi
