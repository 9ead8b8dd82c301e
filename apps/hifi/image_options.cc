#include "image_options.h"

#include <fmt/format.h>

#include "audit/image_run.h"
#include "hifi/error.h"
#include "sampling/budget.h"

namespace hifi::app {

void ImageOptions::add_to(CLI::App& verb) {
  ImageRequest& r = request_;
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
  verb.add_option("--classes", classes_, "Names of the model's classes, first = 0")->type_name("no,yes");
  verb.add_option("--link", r.link, "Turn outputs into probabilities: softmax or sigmoid")
      ->check(CLI::IsMember({"softmax", "sigmoid"}))
      ->type_name("LINK");
  verb.add_option("--output", r.output, "Of a model with several outputs: name or index")->type_name("NAME");
  verb.add_option("--batch", r.batch, "Pictures per call of the model")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65'536}))
      ->type_name("N");
  run_.add_to(verb, run_fields(r),
              {.exact = "All coalitions of every image, all fills",
               .budget = fmt::format("Model calls per image, default {} for each draw of the fill",
                                     kDefaultImageBudget),
               .per_instance = "Changes nothing: every image has a profile of its own"});
}

ImageRequest ImageOptions::request() const {
  ImageRequest request = request_;
  request.classes = split_list("--classes", classes_);
  // Every image has a profile of its own, on coalitions that all share, whatever else is asked.
  if (request.per_instance) request.per_instance = request.amortise = false;
  run_.complete(request);
  if (request.interval != "" && request.interval != "population" && request.interval != "montecarlo") {
    throw Error(
        ErrorCode::usage,
        fmt::format("--interval {}: images have population and montecarlo intervals", request.interval));
  }
  if (!(request.feather >= 0 && request.feather <= 100)) {
    throw Error(ErrorCode::usage,
                fmt::format("--feather {}: must lie between 0 and 100 pixels", request.feather));
  }
  return request;
}

namespace {

std::string coalitions_text(const PatchPlan& plan) {
  switch (plan.kind) {
    case PatchPlan::Kind::all:
      return "all coalitions";
    case PatchPlan::Kind::search:
      return "a search";
    case PatchPlan::Kind::paper:
      return "the paper's policy: both ends of every patch, then diamonds; pairs and regions of the "
             "strongest";
    case PatchPlan::Kind::chains:
      break;
  }
  return fmt::format("both ends of every patch, {} chains, pairs and regions of the strongest",
                     plan.chains.size());
}

}  // namespace

double forecast_seconds(const ImageSubject& s) {
  return static_cast<double>(s.calls() * s.own_images()) / s.calls_per_second;
}

std::string plan_text(const ImageSubject& s) {
  const NetworkInfo& info = s.model.network->info();
  std::string text = fmt::format("model       {}, {}, {}, batches of {}\n", s.request.model, s.model.format,
                                 info.library, info.rows);
  text += fmt::format("outputs     {}\n", s.outputs);
  text += fmt::format("images      {} of {}, as {} x {} by the recipe {}\n", s.images(), s.request.images,
                      s.recipe.width, s.recipe.height, s.recipe.name);
  text += fmt::format("fill        {}{}\n", s.fills->description(s.recipe.height, s.recipe.width),
                      s.fill_draws > 1 ? fmt::format(", {} draws", s.fill_draws) : "");
  text += fmt::format("players     {} {}, edges softened by {:.2g} pixels{}\n", s.players.size(),
                      s.labels.empty() ? "patches" : "segments", s.feather,
                      s.offsets() > 1 ? fmt::format("; {} grids, shifted by half a patch", s.offsets()) : "");
  text += fmt::format("work        at most {} model calls per image: {}\n", s.calls(),
                      coalitions_text(s.plans[0]));
  if (s.shard.count > 1) {
    text +=
        fmt::format("shard       {}/{} has {} of the images\n", s.shard.index, s.shard.count, s.own_images());
  }
  if (!s.request.precision.empty()) {
    text += fmt::format(
        "precision   looks after 32, 64, .. images in a seeded order: is the widest interval below {}?\n",
        s.request.precision);
  }
  text += fmt::format("memory      {}\n", human_bytes(s.bytes));
  text += fmt::format("time        {} {}, from a short probe",
                      s.request.precision.empty() ? "about" : "at most", human_seconds(forecast_seconds(s)));
  for (const std::string& note : s.notes) text += fmt::format("\nnote        {}", note);
  for (const Warning& w : s.warnings) text += fmt::format("\nwarning     {}", w.message);
  return text;
}

}  // namespace hifi::app
