// The vocabulary at the end of a run: a lattice, or the cells of a search.
#pragma once

#include <optional>

#include "sampling/searched.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct RunResult {
  Lattice lattice;
  std::optional<SearchedRun> searched;
};

// Of a complete, undivided run.
RunResult read_result(RunFile& file, const RunPlan& plan);

}  // namespace hifi
