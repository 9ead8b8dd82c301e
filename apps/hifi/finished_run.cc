#include "finished_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "command.h"
#include "hifi/error.h"

namespace hifi::app {

bool is_run_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::string magic(15, '\0');
  std::ifstream(path, std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return magic == "SQLite format 3";
}

void check_players(const std::vector<std::string>& players, const RunPlan& plan, const std::string& path) {
  if (players.empty() || players == plan.players) return;
  throw input_error(fmt::format("--players differs from the players of {}", path),
                    "a run file knows its players; leave --players out");
}

FinishedRun open_finished_run(const std::string& path, const std::vector<std::string>& players) {
  RunFile file = RunFile::open(path, RunFile::Mode::read);
  FinishedRun run{.plan = read_plan(file)};
  if (run.plan.policy == "images") {
    throw input_error(fmt::format("{}: is a run of images, which have one vocabulary each", path),
                      "hifi decompose has their profiles");
  }
  if (!is_complete(file, run.plan)) {
    throw input_error(fmt::format("{}: the run is not finished", path),
                      fmt::format("hifi resume {}", shell_quote(path)));
  }
  if (run.plan.shards > 1) {
    throw input_error(fmt::format("{}: is shard {}/{} of a run", path, run.plan.shard, run.plan.shards),
                      "merge all shards first with `hifi merge`");
  }
  check_players(players, run.plan, path);
  run.result = read_result(file, run.plan);
  return run;
}

}  // namespace hifi::app
