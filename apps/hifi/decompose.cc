#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "audit/profile.h"
#include "command.h"
#include "core/files.h"
#include "hifi/error.h"
#include "vocabulary/lattice_store.h"

namespace hifi::app {

namespace {

bool is_run_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe can be read only once
  std::string magic(15, '\0');
  std::ifstream(path, std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return magic == "SQLite format 3";
}

Profile from_run(const std::string& path, const std::string& pairs, Workers& workers) {
  RunFile file = RunFile::open(path, RunFile::Mode::read);
  const RunPlan plan = read_plan(file);
  if (!is_complete(file, plan)) {
    throw input_error(fmt::format("{}: the run is not finished", path),
                      fmt::format("hifi resume {}", shell_quote(path)));
  }
  if (plan.shards > 1) {
    throw input_error(fmt::format("{}: is shard {}/{} of a run", path, plan.shard, plan.shards),
                      "merge all shards first with `hifi merge`");
  }
  return make_profile(plan, read_result(file, plan), pairs, workers);
}

struct Decompose {
  std::string path;
  std::string players;
  Output output;

  void operator()() {
    const std::vector<std::string> names = split_list("--players", players);
    output.check();
    Workers workers(output.threads);
    if (!is_run_file(path))
      return output.write(make_profile(read_loss_table(path, names), output.pairs, workers));
    Profile profile = from_run(path, output.pairs, workers);
    if (!names.empty() && names != profile.players) {
      throw input_error(fmt::format("--players differs from the players of {}", path),
                        "a run file knows its players; leave --players out");
    }
    output.write(profile);
  }
};

}  // namespace

Run add_decompose(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "decompose", "The profile of an existing vocabulary: a table of coalition losses or a run file");
  auto run = std::make_shared<Decompose>();
  verb->add_option("vocabulary", run->path,
                   "CSV or Parquet with columns coalition (like 0110) and loss; or a run file")
      ->required()
      ->type_name("TABLE|run.hifi");
  verb->add_option("--players", run->players, "Names of the players (default x1..xn)")->type_name("a,b");
  run->output.add_to(*verb);
  verb->footer(
      "Example:\n"
      "  printf 'coalition,loss\\n00,0.5\\n10,0.5\\n01,0.5\\n11,0\\n' > and.csv && hifi decompose and.csv "
      "--players a,b");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
