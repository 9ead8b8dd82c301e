// The vocabulary at the end of a run: a lattice, the cells of a search, or visits.
#pragma once

#include <optional>
#include <vector>

#include "sampling/paper_run.h"
#include "sampling/per_instance.h"
#include "sampling/searched.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct RunResult {
  Lattice lattice;
  std::optional<SearchedRun> searched;
  std::optional<PaperResult> paper;
  std::vector<InstanceCells> instances;  // if asked for
};

// Of a complete, undivided run.
RunResult read_result(RunFile& file, const RunPlan& plan);

}  // namespace hifi
