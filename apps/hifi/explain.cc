#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "audit/profile.h"
#include "command.h"
#include "explain_options.h"
#include "hifi/error.h"
#include "run.h"
#include "stress.h"

namespace hifi::app {

namespace {

struct Explain {
  ExplainOptions options;
  Output output;
  std::string out;
  std::string stress;

  void operator()() {
    ExplainRequest request = options.request();
    request.stress = split_list("--stress-background", stress);
    const Shard shard = options.shard();
    output.check();
    check_run_file(out, shard, output);
    if (!stress.empty() && shard.count > 1) {
      throw Error(ErrorCode::usage, "--stress-background gives a profile, --shard does not",
                  "leave one of them out");
    }
    Workers workers(output.threads);
    Audit audit(request, shard, workers);
    StressTest stress_test(request, workers);
    parse_pairs(output.pairs, audit.plan().players);  // before the run, not at its end
    output.say(plan_text(audit));
    if (const std::string note = stress_test.note(); !note.empty()) output.say(note);
    std::optional<RunFile> file;
    if (!out.empty()) file.emplace(RunFile::create(out, audit.plan().to_json()));
    try {
      run_and_report(audit, file ? &*file : nullptr, output, workers, stress_test.appendix(audit, output));
    } catch (const Error& error) {
      // Bad input that showed only now (an output that is no probability): nothing worth to resume.
      if (error.code() == ErrorCode::input && file && !is_complete(*file, audit.plan())) {
        file.reset();
        RunFile::discard(out);
      }
      throw;
    }
  }
};

}  // namespace

Run add_explain(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "explain", "Audit a model on a table: unique, redundant and synergistic value of each column");
  auto run = std::make_shared<Explain>();
  run->options.add_to(*verb);
  verb->add_option("--out", run->out,
                   "Keep the run in this file, so that it can be resumed, merged and analysed")
      ->type_name("run.hifi");
  verb->add_option("--stress-background", run->stress,
                   "Repeat the audit under these backgrounds and say which conclusions survive")
      ->type_name("B,B,..");
  run->output.add_to(*verb);
  verb->footer(
      "Example (`hifi demo --keep demo` makes the files):\n"
      "  hifi explain --model demo/model.json --data demo/data.csv --target y --background mean --exact");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
