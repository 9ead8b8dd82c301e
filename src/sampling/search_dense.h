// No small set of active players: every player matters a little, and most where the loss is steep.
#pragma once

#include "sampling/search_state.h"

namespace hifi {

// Stars at {}, full and at the steepest places of random chains, balls among the strongest players there,
// until the budget is spent (BudgetSpent) or nothing new comes.
void search_dense(SearchState& state);

}  // namespace hifi
