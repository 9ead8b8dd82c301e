#include <fmt/format.h>

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

struct Resume {
  std::string path;
  Output output;

  void operator()() {
    output.check();
    RunFile file = RunFile::open(path, RunFile::Mode::write);
    const RunPlan plan = read_plan(file);
    parse_pairs(output.pairs, plan.players);
    Workers workers(output.threads);
    if (is_complete(file, plan)) {
      std::optional<Profile> profile;
      if (plan.shards == 1) profile = make_profile(plan, read_result(file, plan), output.pairs, workers);
      output.say(fmt::format("{} is finished already", path));
      if (profile) output.write(*profile, stress_again(plan, *profile, workers));
      return;
    }
    const ExplainRequest request = ExplainRequest::from_json(plan.options, path);
    Audit audit(request, {.index = plan.shard, .count = plan.shards}, workers,
                {.look = plan.look, .evaluations = plan.evaluations});
    const std::string difference = RunPlan::difference(plan, audit.plan());
    if (!difference.empty()) {
      throw input_error(
          fmt::format("{}: the run was planned otherwise, now and then differ in {}", path, difference),
          "give back the model, data and background of the run, or start a new one");
    }
    StressTest stress(request, workers);
    output.say(plan_text(audit));
    if (const std::string note = stress.note(); !note.empty()) output.say(note);
    run_and_report(audit, &file, output, workers, stress.appendix(audit, output));
  }

  // The other backgrounds of a run are not in its file: of a finished one they are computed again, if model
  // and data are still there.
  Appendix stress_again(const RunPlan& plan, const Profile& profile, Workers& workers) const {
    const ExplainRequest request = ExplainRequest::from_json(plan.options, path);
    if (request.stress.empty()) return {};
    try {
      const Audit audit(request, {}, workers, {.look = plan.look, .evaluations = plan.evaluations});
      return StressTest(request, workers).appendix(audit, output)(profile);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted) throw;
      output.say(fmt::format("note        --stress-background is left out: {}", error.what()));
      return {};
    }
  }
};

}  // namespace

Run add_resume(CLI::App& app) {
  auto* verb = app.add_subcommand("resume", "Continue an interrupted run from its file, and report");
  auto run = std::make_shared<Resume>();
  verb->add_option("run", run->path, "The run file")->required()->type_name("run.hifi");
  run->output.add_to(*verb);
  verb->footer("Example:\n  hifi resume run.hifi --json profile.json");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
