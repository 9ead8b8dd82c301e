// The estimator loop when 2^n coalitions are out of reach: a search proposes, its cells are evaluated on one
// part of the rows, what it selected is measured again on the other.
#pragma once

#include <array>
#include <vector>

#include "core/parallel.h"
#include "core/progress.h"
#include "game/cell_draws.h"
#include "game/game.h"
#include "sampling/search.h"
#include "vocabulary/cell_store.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct SearchedRun {
  SearchResult found;
  std::vector<Coalition> coalitions;  // of the cells that are reported
  Lattice cells;
};

// Draws of the search and of the report; without a split both are the same.
using SearchDraws = std::array<CellDraws, 2>;

// Runs from what the file holds, if there is one. The search is a pure function of the losses it has seen, so
// a resumed run repeats it on the stored cells. A shard searches like the others and measures its share.
SearchedRun run_searched(Game& game, const SearchDraws& draws, const RunPlan& plan, RunFile* file,
                         Workers& workers, Progress& progress);

// A finished run. Throws Error(input) if the search asks for a coalition that is not in the file.
SearchedRun read_searched(RunFile& file, const RunPlan& plan);

}  // namespace hifi
