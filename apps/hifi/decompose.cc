#include <memory>

#include "audit/profile.h"
#include "command.h"
#include "finished_run.h"
#include "image_verb.h"
#include "vocabulary/lattice_store.h"

namespace hifi::app {

namespace {

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
    {
      RunFile file = RunFile::open(path, RunFile::Mode::read);
      const RunPlan plan = read_plan(file);
      if (is_image_run(plan)) {
        check_players(names, plan, path);
        return decompose_images(file, plan, output);
      }
    }
    const FinishedRun run = open_finished_run(path, names);
    output.write(make_profile(run.plan, run.result, output.pairs, workers));
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
