// The vocabulary at the end of a run: a lattice, the cells of a search, or visits.
#pragma once

#include <optional>

#include "sampling/paper_run.h"
#include "sampling/searched.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct RunResult {
  Lattice lattice;
  std::optional<SearchedRun> searched;
  std::optional<PaperResult> paper;
};

// Of a complete, undivided run.
RunResult read_result(RunFile& file, const RunPlan& plan);

}  // namespace hifi
