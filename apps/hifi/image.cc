#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "audit/image_maps.h"
#include "audit/image_profile.h"
#include "audit/image_run.h"
#include "audit/profile.h"
#include "core/files.h"
#include "hifi/error.h"
#include "image_options.h"
#include "image_verb.h"
#include "vocabulary/lattice_store.h"

namespace hifi::app {

namespace {

// What was finished is kept; without a file nothing is.
std::vector<ImageRecord> run_with_hint(const ImageSubject& subject, RunPlan& plan, RunFile* file,
                                       const Output& output, Workers& workers) {
  try {
    return run_images(subject, plan, file, workers, output.progress());
  } catch (const Error& error) {
    const bool keeps = error.code() == ErrorCode::interrupted || error.code() == ErrorCode::model ||
                       error.code() == ErrorCode::input;
    if (!keeps) throw;
    const bool kept_some = file != nullptr && file->has_cells();
    if (error.code() == ErrorCode::input && !kept_some) throw;
    const std::string kept =
        file == nullptr ? "nothing was kept: with --out a run can be resumed"
                        : fmt::format("what was computed is kept: hifi resume {}", shell_quote(file->path()));
    if (file != nullptr) file->commit([&] { file->log(error.what()); });
    throw Error(error.code(), error.what(), error.hint().empty() ? kept : error.hint() + "; " + kept);
  }
}

Profile report(const RunPlan& plan, const std::vector<ImageRecord>& records, const Output& output,
               Workers& workers) {
  Profile profile = image_profile(plan, records, output.pairs, workers);
  ImageSummary summary = summarise(plan, records);
  output.write(profile, {.text = std::move(summary.text), .fields = {{"images", std::move(summary.json)}}});
  return profile;
}

void check_precision(const ImageSubject& subject, const RunPlan& plan, const Profile& profile) {
  const std::string& asked = subject.request.precision;
  if (asked.empty() || Precision::parse(asked).is_met(profile)) return;
  throw Error(
      ErrorCode::precision,
      std::isfinite(profile.widest_interval)
          ? fmt::format("the widest interval is {:.3g}, wider than --precision asks, with all {} images",
                        profile.widest_interval, plan.instances)
          : fmt::format("an interval is open, so --precision is not met, with all {} images", plan.instances),
      "bring more images: the intervals are about those that could have been taken");
}

void run_and_report(const ImageSubject& subject, RunPlan& plan, RunFile* file, const Output& output,
                    const MapOutput& maps, Workers& workers) {
  const std::vector<ImageRecord> records = run_with_hint(subject, plan, file, output, workers);
  if (!maps.folder.empty()) write_maps(subject, records, maps.folder, maps.map, workers);
  if (plan.shards == 1) return check_precision(subject, plan, report(plan, records, output, workers));
  output.say(fmt::format("shard {}/{} is done: {}; when all are, `hifi merge -o all.hifi part..`", plan.shard,
                         plan.shards, file->path()));
}

struct ImageVerb {
  ImageOptions options;
  std::string out;
  Output output;
  MapOutput maps;

  void operator()() const {
    const ImageRequest request = options.request();
    const Shard shard = options.shard();
    output.check();
    maps.check();
    check_run_file(out, shard, output);
    Workers workers(output.threads);
    const ImageSubject subject = open_image_subject(request, workers, shard);
    RunPlan plan = image_plan(subject, request.precision.empty() ? 0 : 1);
    parse_pairs(output.pairs, plan.players);  // before the run, not at its end
    output.say(plan_text(subject));
    std::optional<RunFile> file;
    if (!out.empty()) file.emplace(RunFile::create(out, plan.to_json()));
    try {
      run_and_report(subject, plan, file ? &*file : nullptr, output, maps, workers);
    } catch (const Error& error) {
      // Bad input that showed only now: what was computed can still be resumed when it is mended.
      if (error.code() == ErrorCode::input && file && !file->has_cells()) {
        file.reset();
        RunFile::discard(out);
      }
      throw;
    }
  }
};

}  // namespace

void MapOutput::add_to(CLI::App& verb) {
  verb.add_option("--maps", folder, "Write overlays (PNG) and all maps (NPY) into this folder")
      ->type_name("DIR");
  verb.add_option("--map", map, "The map of the overlays: P (default), pi, last, mean-gain, Lmax, U, S, R")
      ->type_name("NAME");
}

void MapOutput::check() const {
  if (!is_map_name(map)) {
    throw Error(ErrorCode::usage,
                fmt::format("--map {}: must be P, pi, last, mean-gain, Lmax, U, S or R", map));
  }
  if (folder.empty()) return;
  if (!std::filesystem::is_directory(folder))
    throw input_error(fmt::format("--maps {}: there is no such folder", folder), "make it first");
  check_writable((std::filesystem::path(folder) / "map.npy").string());
}

bool is_image_run(const RunPlan& plan) { return plan.policy == "images"; }

void resume_images(RunFile& file, const RunPlan& plan, const Output& output, const MapOutput& maps) {
  maps.check();
  Workers workers(output.threads);
  const ImageSubject subject =
      open_image_subject(ImageRequest::from_json(plan.options, file.path()), workers,
                         {.index = plan.shard, .count = plan.shards}, plan.evaluations);
  RunPlan now = image_plan(subject, plan.look);
  const std::string difference = RunPlan::difference(plan, now);
  if (!difference.empty()) {
    throw input_error(
        fmt::format("{}: the run was planned otherwise, now and then differ in {}", file.path(), difference),
        "give back the model, images and labels of the run, or start a new one");
  }
  output.say(plan_text(subject));
  now = plan;  // paths may differ
  run_and_report(subject, now, &file, output, maps, workers);
}

void decompose_images(RunFile& file, const RunPlan& plan, const Output& output) {
  Workers workers(output.threads);
  if (!is_complete(file, plan)) {
    throw input_error(fmt::format("{}: the run is not finished", file.path()),
                      fmt::format("hifi resume {}", shell_quote(file.path())));
  }
  if (plan.shards > 1) {
    throw input_error(fmt::format("{}: is shard {}/{} of a run", file.path(), plan.shard, plan.shards),
                      "add up all shards with `hifi merge` first");
  }
  report(plan, read_images(file, plan), output, workers);
}

Run add_image(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "image",
      "Audit an image classifier: unique, redundant and synergistic value of patches, maps, regions");
  auto run = std::make_shared<ImageVerb>();
  run->options.add_to(*verb);
  verb->add_option("--out", run->out,
                   "Keep the run in this file, so that it can be resumed, merged and analysed")
      ->type_name("run.hifi");
  run->maps.add_to(*verb);
  run->output.add_to(*verb);
  verb->footer(
      "Example:\n  hifi image --model model.onnx --images chest.png --recipe xrv --class 3 --maps maps");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
