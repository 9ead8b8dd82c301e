#include "run.h"

#include <fmt/format.h>

#include <chrono>

#include "audit/profile.h"
#include "hifi/error.h"

namespace hifi::app {

namespace {

RunResult run_with_hint(Audit& audit, RunFile* file, const Output& output) {
  try {
    return audit.run(file, output.progress());
  } catch (const Error& error) {
    const bool keeps = error.code() == ErrorCode::interrupted || error.code() == ErrorCode::model;
    if (!keeps) throw;
    if (file == nullptr) {
      throw Error(error.code(), error.what(),
                  error.hint().empty() ? "nothing was kept: with --out a run can be resumed" : error.hint());
    }
    file->commit([&] { file->log(error.what()); });
    throw Error(error.code(), error.what(),
                fmt::format("{}{}what was computed is kept: hifi resume {}", error.hint(),
                            error.hint().empty() ? "" : "; ", shell_quote(file->path())));
  }
}

}  // namespace

void run_and_report(Audit& audit, RunFile* file, const Output& output, Workers& workers,
                    const std::function<Appendix(const Profile&)>& appendix) {
  const auto start = std::chrono::steady_clock::now();
  const RunResult result = run_with_hint(audit, file, output);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const RunPlan& plan = audit.plan();
  if (output.verbose) {
    output.say(
        fmt::format("run         {:.3g} s, {} rows sent to the model after identical ones were removed",
                    took.count(), audit.model_rows()));
  }
  if (plan.shards > 1) {
    output.say(fmt::format("shard {}/{} is done: {}; when all are, `hifi merge -o all.hifi part..`",
                           plan.shard, plan.shards, file->path()));
    return;
  }
  const Profile profile = make_profile(plan, result, output.pairs, workers);
  output.write(profile, appendix ? appendix(profile) : Appendix{});
  if (audit.precision() && !audit.precision()->is_met(profile)) {
    throw Error(
        ErrorCode::precision,
        fmt::format(
            "the widest interval is {:.3g}, wider than --precision asks; the budget of {} evaluations "
            "is spent",
            profile.widest_interval, plan.evaluations),
        "raise --budget, or bring more rows if the interval is about the population");
  }
}

}  // namespace hifi::app
