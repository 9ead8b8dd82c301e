// The estimator loop for a complete lattice: every coalition sees the same draws.
#pragma once

#include <cstdint>

#include "core/parallel.h"
#include "core/progress.h"
#include "game/draws.h"
#include "game/game.h"
#include "vocabulary/lattice_store.h"

namespace hifi {

// Runs the blocks of the plan from `state` on. With a store, the state is saved whenever saving has become
// cheap against the work since the last time, and before Error(interrupted) is thrown.
void run_exhaustive(Game& game, const DrawPlan& draws, const RunPlan& plan, LatticeState& state,
                    LatticeStore* store, Workers& workers, Progress& progress);

}  // namespace hifi
