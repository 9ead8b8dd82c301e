// One lattice per instance beside that of the mean loss, from the same evaluations.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/parallel.h"
#include "core/progress.h"
#include "game/cell_draws.h"
#include "game/game.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// The losses of one instance against its background rows. Its blocks are of background rows: the instance is
// fixed, the rows are the sample.
struct InstanceCells {
  std::uint32_t row = 0;
  Lattice cells;  // sums by block in `instance`, squares; nothing else
};

struct PerInstance {
  Lattice lattice;                       // of all instances
  std::vector<InstanceCells> instances;  // in the order of the draws
};

// Instance by instance, each with all of its draws. REQUIRES: the draws are whole rounds
PerInstance run_per_instance(Game& game, const DrawPlan& draws, const RunPlan& plan, RunFile* file,
                             Workers& workers, Progress& progress);

// Beyond 2^n: every instance on the first of the coalitions that were searched for all of them. `draws` lists
// those of an instance.
std::vector<InstanceCells> run_amortised(Game& game, const std::vector<Coalition>& coalitions,
                                         const std::function<CellDraws(std::uint32_t)>& draws,
                                         const RunPlan& plan, RunFile* file, Workers& workers,
                                         Progress& progress);
std::vector<InstanceCells> read_amortised(RunFile& file, const RunPlan& plan);

// A finished run.
PerInstance read_per_instance(const RunFile& file, const RunPlan& plan);

// The plan of one instance, as the analysis of a lattice takes it.
RunPlan instance_plan(const RunPlan& plan);

}  // namespace hifi
