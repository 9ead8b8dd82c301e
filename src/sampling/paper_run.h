// The estimator loop of the paper's policy: diamonds on fresh ranges of draws, visit counts, the A3 monitor
// with its fallback.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/progress.h"
#include "game/draws.h"
#include "game/game.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"
#include "vocabulary/visits.h"

namespace hifi {

struct PaperResult {
  std::vector<Visit> visits;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> fallbacks;  // pairs that A3 does not hold for, as seen
  bool converged = false;  // every coalition of the vocabulary is within plan.paper.width
};

// Runs from what the file holds, if there is one: all choices are a function of the visits made, so a resumed
// run repeats them on the stored ones. `draws` need not be sized: ranges wrap around at all pairs.
PaperResult run_paper(Game& game, const DrawPlan& draws, const RunPlan& plan, RunFile* file, Workers& workers,
                      Progress& progress);

// A finished run.
PaperResult read_paper(RunFile& file, const RunPlan& plan);

}  // namespace hifi
