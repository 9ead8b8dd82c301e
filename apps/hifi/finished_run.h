// Vocabularies that need no model: tables of losses and run files.
#pragma once

#include <string>
#include <vector>

#include "audit/run_result.h"
#include "vocabulary/lattice_store.h"

namespace hifi::app {

// By content; a pipe is none, since it can be read only once.
bool is_run_file(const std::string& path);

struct FinishedRun {
  RunPlan plan;
  RunResult result;
};

// Throws Error(input) if `players` are named and are not those of the run.
void check_players(const std::vector<std::string>& players, const RunPlan& plan, const std::string& path);

// Throws Error(input) if the run is not finished, is a shard, or has other players than `players` (if named).
FinishedRun open_finished_run(const std::string& path, const std::vector<std::string>& players);

}  // namespace hifi::app
