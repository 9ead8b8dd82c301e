#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "audit/image_maps.h"
#include "audit/image_profile.h"
#include "audit/image_run.h"
#include "audit/profile.h"
#include "core/files.h"
#include "hifi/error.h"
#include "image_verb.h"
#include "sampling/budget.h"
#include "vocabulary/lattice_store.h"

namespace hifi::app {

namespace {

std::string plan_text(const ImageSubject& s, std::size_t threads) {
  const NetworkInfo& info = s.model.network->info();
  std::string text = fmt::format("model       {}, {}, {}, batches of {}\n", s.request.model, s.model.format,
                                 info.library, info.rows);
  text += fmt::format("images      {} of {}, as {} x {} by the recipe {}\n", s.images(), s.request.images,
                      s.recipe.width, s.recipe.height, s.recipe.name);
  text += fmt::format("fill        {}{}\n", s.fills->description(s.recipe.height, s.recipe.width),
                      s.fill_draws > 1 ? fmt::format(", {} draws", s.fill_draws) : "");
  text += fmt::format("players     {} {}, edges softened by {:.2g} pixels{}\n", s.players.size(),
                      s.labels.empty() ? "patches" : "segments", s.feather,
                      s.offsets() > 1 ? fmt::format("; {} grids, shifted by half a patch", s.offsets()) : "");
  const PatchPlan& first = s.plans[0];
  text +=
      fmt::format("work        at most {} model calls per image: {}\n", s.calls(),
                  first.kind == PatchPlan::Kind::all ? "all coalitions"
                  : first.kind == PatchPlan::Kind::search
                      ? "a search"
                      : fmt::format("both ends of every patch, {} chains, pairs and regions of the strongest",
                                    first.chains.size()));
  text += fmt::format("memory      {}\n", human_bytes(s.bytes));
  text += fmt::format(
      "time        about {:.2g} s, from a short probe",
      s.seconds_per_call * static_cast<double>(s.calls() * s.images()) / static_cast<double>(threads));
  for (const std::string& note : s.notes) text += fmt::format("\nnote        {}", note);
  return text;
}

// What was finished is kept; without a file nothing is.
std::vector<ImageRecord> run_with_hint(const ImageSubject& subject, RunFile* file, const Output& output,
                                       Workers& workers) {
  try {
    return run_images(subject, file, workers, output.progress());
  } catch (const Error& error) {
    const bool keeps = error.code() == ErrorCode::interrupted || error.code() == ErrorCode::model;
    if (!keeps) throw;
    const std::string kept =
        file == nullptr ? "nothing was kept: with --out a run can be resumed"
                        : fmt::format("what was computed is kept: hifi resume {}", shell_quote(file->path()));
    if (file != nullptr) file->commit([&] { file->log(error.what()); });
    throw Error(error.code(), error.what(), error.hint().empty() ? kept : error.hint() + "; " + kept);
  }
}

void report(const RunPlan& plan, const std::vector<ImageRecord>& records, const Output& output,
            Workers& workers) {
  const Profile profile = image_profile(plan, records, output.pairs, workers);
  ImageSummary summary = summarise(plan, records);
  output.write(profile, {.text = std::move(summary.text), .fields = {{"images", std::move(summary.json)}}});
}

void run_and_report(const ImageSubject& subject, const RunPlan& plan, RunFile* file, const Output& output,
                    const MapOutput& maps, Workers& workers) {
  const std::vector<ImageRecord> records = run_with_hint(subject, file, output, workers);
  if (!maps.folder.empty()) write_maps(subject, records, maps.folder, maps.map, workers);
  report(plan, records, output, workers);
}

struct ImageVerb {
  ImageRequest request;
  std::string classes;
  std::string max_memory;
  std::string out;
  Output output;
  MapOutput maps;

  void check() {
    request.classes = split_list("--classes", classes);
    if (!max_memory.empty()) request.max_memory = parse_bytes("--max-memory", max_memory);
    if (!(request.confidence >= 0.5 && request.confidence <= 0.9999)) {
      throw Error(ErrorCode::usage,
                  fmt::format("--confidence {}: must lie between 0.5 and 0.9999", request.confidence));
    }
    if (!(request.feather >= 0 && request.feather <= 100)) {
      throw Error(ErrorCode::usage,
                  fmt::format("--feather {}: must lie between 0 and 100 pixels", request.feather));
    }
    output.check();
    maps.check();
    if (out.empty()) return;
    if (std::filesystem::exists(out)) {
      throw input_error(fmt::format("{}: exists already", out),
                        "continue it with `hifi resume`, remove it, or choose another name");
    }
    check_writable(out);
  }

  void operator()() {
    check();
    Workers workers(output.threads);
    const ImageSubject subject = open_image_subject(request, workers);
    const RunPlan plan = image_plan(subject);
    parse_pairs(output.pairs, plan.players);  // before the run, not at its end
    output.say(plan_text(subject, workers.threads()));
    for (const Warning& w : subject.warnings) output.say("warning     " + w.message);
    std::optional<RunFile> file;
    if (!out.empty()) file.emplace(RunFile::create(out, plan.to_json()));
    try {
      run_and_report(subject, plan, file ? &*file : nullptr, output, maps, workers);
    } catch (const Error& error) {
      // Bad input that showed only now: what was computed can still be resumed when it is mended.
      if (error.code() == ErrorCode::input && file && !file->text("image/0")) {
        file.reset();
        RunFile::discard(out);
      }
      throw;
    }
  }
};

void add_options(CLI::App& verb, ImageVerb& v) {
  ImageRequest& r = v.request;
  verb.add_option("--model", r.model, "ONNX or TorchScript file")->required()->type_name("MODEL");
  verb.add_option("--images", r.images, "A folder of PNG and JPEG images, or one of them")
      ->required()
      ->type_name("DIR|FILE");
  verb.add_option("--labels", r.labels,
                  "A table with columns image, label and optionally x, y, w, h: boxes in pixels")
      ->type_name("F.csv");
  verb.add_option("--recipe", r.recipe,
                  "How an image becomes an input: xrv, imagenet or a JSON file (default: fitted to the "
                  "model's input, 0..1)")
      ->type_name("RECIPE");
  auto* grid = verb.add_option("--grid", r.grid, "The players: patches of ROWSxCOLUMNS (default 7x7)")
                   ->type_name("RxC");
  verb.add_option("--segments", r.segments, "The players: segments of label masks NAME.png in this folder")
      ->type_name("DIR")
      ->excludes(grid);
  verb.add_option("--offsets", r.offsets,
                  "Grids, shifted by half a patch, within the same budget: 1, 2 (default) or 4")
      ->check(CLI::IsMember({1, 2, 4}))
      ->type_name("N");
  verb.add_option("--feather", r.feather, "Soften the edges of patches by this many pixels (default 2)")
      ->type_name("PX");
  verb.add_option("--fill", r.fill,
                  "What absent patches show: blur (default), mean, data-mean, noise, constant:V, images:DIR")
      ->type_name("FILL");
  verb.add_option("--fill-draws", r.fill_draws,
                  "Draws of noise (default 4) or other images (default 8) per coalition")
      ->type_name("N");
  verb.add_option("--loss", r.loss,
                  "log (default), brier, zero-one, prediction (the probability of the class) or logit")
      ->check(CLI::IsMember({"log", "brier", "zero-one", "prediction", "logit"}))
      ->type_name("LOSS");
  verb.add_option("--class", r.class_name, "The class that is explained, where no label says it")
      ->type_name("K");
  verb.add_option("--classes", v.classes, "Names of the model's classes, first = 0")->type_name("no,yes");
  verb.add_option("--link", r.link, "Turn outputs into probabilities: softmax or sigmoid")
      ->check(CLI::IsMember({"softmax", "sigmoid"}))
      ->type_name("LINK");
  verb.add_option("--output", r.output, "Of a model with several outputs: name or index")->type_name("NAME");
  auto* exact = verb.add_flag("--exact", r.exact, "All coalitions of every image, all fills");
  verb.add_option(
          "--budget", r.budget,
          fmt::format("Model calls per image, default {} for each draw of the fill", kDefaultImageBudget))
      ->check(whole_number())
      ->type_name("N")
      ->excludes(exact);
  verb.add_option("--seed", r.seed, "Seed of all random choices (default 0)")
      ->check(whole_number())
      ->type_name("N");
  verb.add_option("--interval", r.interval, "population (default from 20 images on) or montecarlo")
      ->check(CLI::IsMember({"population", "montecarlo"}))
      ->type_name("KIND");
  verb.add_option("--confidence", r.confidence, "Confidence of the intervals (default 0.95)")->type_name("P");
  verb.add_option("--batch", r.batch, "Pictures per call of the model")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65'536}))
      ->type_name("N");
  verb.add_option("--max-memory", v.max_memory, "Refuse to need more (default 4G)")->type_name("SIZE");
  verb.add_option("--out", v.out, "Keep the run in this file, so that it can be resumed and analysed")
      ->type_name("run.hifi");
}

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
      open_image_subject(ImageRequest::from_json(plan.options, file.path()), workers);
  const RunPlan now = image_plan(subject);
  const std::string difference = RunPlan::difference(plan, now);
  if (!difference.empty()) {
    throw input_error(
        fmt::format("{}: the run was planned otherwise, now and then differ in {}", file.path(), difference),
        "give back the model, images and labels of the run, or start a new one");
  }
  output.say(plan_text(subject, workers.threads()));
  run_and_report(subject, plan, &file, output, maps, workers);
}

void decompose_images(RunFile& file, const RunPlan& plan, const Output& output) {
  Workers workers(output.threads);
  if (!is_complete(file, plan)) {
    throw input_error(fmt::format("{}: the run is not finished", file.path()),
                      fmt::format("hifi resume {}", shell_quote(file.path())));
  }
  report(plan, read_images(file, plan), output, workers);
}

Run add_image(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "image",
      "Audit an image classifier: unique, redundant and synergistic value of patches, maps, regions");
  auto run = std::make_shared<ImageVerb>();
  add_options(*verb, *run);
  run->maps.add_to(*verb);
  run->output.add_to(*verb);
  verb->footer(
      "Example:\n  hifi image --model model.onnx --images chest.png --recipe xrv --class 3 --maps maps");
  return [run] { (*run)(); };
}

}  // namespace hifi::app
