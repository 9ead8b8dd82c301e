#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

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

// Nanoseconds of all threads per evaluation that were not the model's. None: nothing went through it.
std::optional<double> outside_model(const ModelUse& before, const ModelUse& after, double seconds,
                                    std::size_t threads) {
  const std::uint64_t evaluations = after.evaluations - before.evaluations;
  if (evaluations == 0) return std::nullopt;
  const double all = 1e9 * seconds * static_cast<double>(threads);
  const auto model = static_cast<double>(after.nanoseconds - before.nanoseconds);
  return std::max(0.0, all - model) / static_cast<double>(evaluations);
}

std::string with_time(const std::string& provenance, double nanoseconds) {
  auto json = nlohmann::ordered_json::parse(provenance);
  json["outside_model_ns"] = nanoseconds;
  return json.dump();
}

}  // namespace

void run_and_report(Audit& audit, RunFile* file, const Output& output, Workers& workers,
                    const std::function<Appendix(const Profile&)>& appendix) {
  const ModelUse before = audit.model_use();
  const auto start = std::chrono::steady_clock::now();
  const RunResult result = run_with_hint(audit, file, output);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const RunPlan& plan = audit.plan();
  const std::optional<double> outside =
      outside_model(before, audit.model_use(), took.count(), workers.threads());
  if (output.verbose) {
    output.say(
        fmt::format("run         {:.3g} s, {} rows sent to the model after identical ones were removed",
                    took.count(), audit.model_use().rows - before.rows));
    if (outside)
      output.say(fmt::format("outside     {:.3g} ns per evaluation spent outside the model", *outside));
  }
  if (plan.shards > 1) {
    output.say(fmt::format("shard {}/{} is done: {}; when all are, `hifi merge -o all.hifi part..`",
                           plan.shard, plan.shards, file->path()));
    return;
  }
  Profile profile = make_profile(plan, result, output.pairs, workers);
  // Times differ from run to run, so they are only written for who asks for them.
  if (output.verbose && outside) profile.provenance = with_time(profile.provenance, *outside);
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
