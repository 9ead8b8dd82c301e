// E2 on what comes with the program: synthetic radiographs with findings of known place, a network trained
// with random filled patches and a plain one.
#include <fmt/format.h>

#include <algorithm>

#include "core/shared_files.h"
#include "data/image.h"
#include "experiments/e2.h"
#include "hifi/error.h"

namespace hifi {
namespace {

constexpr const char* kSynthetic = "SYNTHETIC images, SYNTHETIC model";

Image as_image(const Radiograph& radiograph) {
  return {.height = kRadiographSize,
          .width = kRadiographSize,
          .channels = 1,
          .max = 255,
          .values = {radiograph.pixels.begin(), radiograph.pixels.end()}};
}

Recipe recipe() { return Recipe::of_shape({1, kRadiographSize, kRadiographSize}, "the networks of E2"); }

std::vector<E2Picture> pictures_of(const std::vector<TestRadiograph>& images) {
  std::vector<E2Picture> pictures;
  const Recipe fit = recipe();
  for (const TestRadiograph& image : images) {
    std::vector<Box> boxes;
    for (const FindingBox& box : image.boxes)
      boxes.push_back({static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
                       static_cast<double>(box.height)});
    E2Picture picture = make_picture(fit.fit_image(as_image(image.image)), fit, std::move(boxes));
    picture.name = image.name;
    picture.group = evidence_name(image.evidence);
    picture.number = pictures.size();
    picture.label = image.label;
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

// The first of each kind.
std::vector<E2Picture> some(const std::vector<E2Picture>& pictures, std::size_t per_kind) {
  std::vector<E2Picture> chosen;
  for (const char* group : {"single", "redundant", "combination"}) {
    std::size_t found = 0;
    for (const E2Picture& picture : pictures)
      if (picture.group == group && found++ < per_kind) chosen.push_back(picture);
  }
  return chosen;
}

std::vector<double> of_group(const std::vector<ScoredPicture>& pictures, const std::string& group,
                             double (*value)(const ScoredPicture&)) {
  std::vector<double> values;
  for (const ScoredPicture& picture : pictures)
    if (picture.group == group) values.push_back(value(picture));
  return values;
}

struct RegionSplit {
  double kinds = 0;  // combination against redundant, by S - R
  double two = 0;    // two nodules against one, by R where the rest is whole
};

RegionSplit split_by_loss(const std::vector<ScoredPicture>& p) {
  const auto contrast = [](const ScoredPicture& s) { return s.ours.loss.contrast(); };
  const auto full = [](const ScoredPicture& s) { return s.ours.loss.redundancy_full; };
  return {roc_auc(of_group(p, "combination", contrast), of_group(p, "redundant", contrast)),
          roc_auc(of_group(p, "redundant", full), of_group(p, "single", full))};
}

RegionSplit split_by_probability(const std::vector<ScoredPicture>& p) {
  const auto contrast = [](const ScoredPicture& s) { return s.ours.probability.contrast(); };
  const auto full = [](const ScoredPicture& s) { return s.ours.probability.redundancy_full; };
  return {roc_auc(of_group(p, "combination", contrast), of_group(p, "redundant", contrast)),
          roc_auc(of_group(p, "redundant", full), of_group(p, "single", full))};
}

ResultTable regions_table(const std::vector<ScoredPicture>& filled, const std::vector<ScoredPicture>& plain) {
  ResultTable table{
      .key = "e2_regions",
      .title = fmt::format("R and S between the strongest three regions ({}): area under the ROC curve",
                           kSynthetic)};
  table.columns = {"model", "images", "read as", "kinds: S - R", "two or one: R"};
  for (const auto* pictures : {&filled, &plain}) {
    const std::string model = pictures == &filled ? "trained with filled patches" : "plain";
    const RegionSplit loss = split_by_loss(*pictures), probability = split_by_probability(*pictures);
    table.add({model, std::to_string(pictures->size()), "log loss", loss.kinds, loss.two});
    table.add({model, std::to_string(pictures->size()), "probability", probability.kinds, probability.two});
  }
  table.note =
      "kinds: combination against redundant images, by S - R. two or one: two nodules against one, by R "
      "where "
      "the rest of the image is whole. A region is a patch of the 7x7 grid with its neighbours; mixed "
      "differences are taken at {} and at the whole image.";
  return table;
}

std::size_t place_of(const ScoredPicture& picture, const std::string& map) {
  for (std::size_t m = 0; m < picture.maps.size(); ++m)
    if (picture.maps[m].name == map) return m;
  return picture.maps.size();
}

double mean_of(const std::vector<ScoredPicture>& pictures, const std::string& map, std::size_t metric) {
  double sum = 0;
  for (double value : values_of(pictures, place_of(pictures.front(), map), e2_metrics()[metric]))
    sum += value;
  return sum / static_cast<double>(pictures.size());
}

// What was hoped for before the test images were looked at, and whether it came true.
std::vector<std::string> verdicts(const std::vector<ScoredPicture>& pictures, const RegionSplit& split) {
  const std::string ours = pictures.front().maps.front().name;
  std::vector<std::string> lines;
  const auto say = [&](bool reached, const std::string& what) {
    lines.push_back(fmt::format("{}: {}", reached ? "reached" : "NOT reached", what));
  };
  const char* family[] = {"GradCAM", "gradient", "gradient, smoothed", "integrated gradients",
                          "integrated gradients, smoothed"};
  for (const std::size_t metric : {std::size_t{3}, std::size_t{4}}) {
    double worst = 0;
    bool better = true;
    for (const char* map : family) {
      better = better && mean_of(pictures, ours, metric) < mean_of(pictures, map, metric);
      worst = std::max(
          worst, paired_p(pictures, 0, place_of(pictures.front(), map), e2_metrics()[metric]).value_or(1));
    }
    say(better && worst < 0.001, fmt::format("{}: lower than GradCAM and all gradients (largest p {:.1e})",
                                             e2_metrics()[metric].name, worst));
    const auto p =
        paired_p(pictures, 0, place_of(pictures.front(), "RISE"), e2_metrics()[metric]).value_or(1);
    const double difference = mean_of(pictures, ours, metric) - mean_of(pictures, "RISE", metric);
    say(metric == 3 ? difference < 0 : difference < 0 || p > 0.05,
        fmt::format("{}: {} than RISE (difference {:+.4f}, p {:.1e})", e2_metrics()[metric].name,
                    metric == 3 ? "lower" : "not higher", difference, p));
  }
  double best = 0;
  std::string best_map;
  for (const ScoredMap& map : pictures.front().maps) {
    if (map.name == ours || mean_of(pictures, map.name, 0) <= best) continue;
    best = mean_of(pictures, map.name, 0);
    best_map = map.name;
  }
  say(mean_of(pictures, ours, 0) >= best,
      fmt::format("Pointing Game {:.3f}, at least that of the best other map ({}, {:.3f})",
                  mean_of(pictures, ours, 0), best_map, best));
  const double iou = mean_of(pictures, ours, 2);
  say(iou > mean_of(pictures, "GradCAM", 2) && iou > mean_of(pictures, "gradient", 2) &&
          iou > mean_of(pictures, "integrated gradients", 2),
      "IoU@15 above GradCAM and raw gradients");
  say(iou > mean_of(pictures, "RISE", 2) - 0.02,
      fmt::format("IoU@15 within .02 of RISE ({:.3f} and {:.3f})", iou, mean_of(pictures, "RISE", 2)));
  say(split.kinds > 0.95,
      fmt::format("redundant and combined evidence told apart, AUC {:.3f} > .95", split.kinds));
  say(split.two > 0.9, fmt::format("two nodules told from one, AUC {:.3f} > .9", split.two));
  return lines;
}

double accuracy(const std::vector<ScoredPicture>& pictures) {
  double right = 0;
  for (const ScoredPicture& picture : pictures) right += picture.ours.full > 0.5 ? 1 : 0;
  return right / static_cast<double>(pictures.size());
}

}  // namespace

ExperimentResult run_e2(const ExperimentOptions& options, Workers& workers, Progress::Listener listener) {
  if (!options.nih.empty()) return run_e2_nih(options, workers, std::move(listener));
  if (!options.model.empty())
    throw Error(ErrorCode::usage, "reproduce e2: --model needs --nih",
                "the shipped images go with the shipped networks");
  return run_e2_synthetic(options, workers, std::move(listener));
}

std::vector<TestRadiograph> e2_radiographs(const ExperimentOptions& options) {
  return make_test_radiographs(2026 + options.seed, options.quick ? 2 : 70);
}

ExperimentResult run_e2_synthetic(const ExperimentOptions& options, Workers& workers,
                                  Progress::Listener listener) {
  const std::size_t fewer = options.quick ? 1 : 10;
  const Recipe fit = recipe();
  const auto open = [&](const std::string& name) {
    return open_e2_model(name, shared_file("e2/" + name + ".onnx"), shared_file("e2/" + name + ".pt"), fit,
                         Link::sigmoid);
  };
  const E2Model filled = open("filled"), plain = open("plain");
  const std::vector<E2Picture> pictures = pictures_of(e2_radiographs(options));
  const std::vector<E2Picture> few = some(pictures, fewer);

  const auto grids = [&](std::size_t cells, std::size_t offsets, std::size_t budget) {
    return make_grids(cells, offsets, budget, kRadiographSize, kRadiographSize, options.seed);
  };
  const E2Grids main_grids = grids(7, 2, 1000);
  const E2Grids others[] = {grids(4, 1, 1000), grids(4, 2, 1000),  grids(7, 1, 1000),
                            grids(7, 4, 1100), grids(14, 1, 1000), grids(14, 2, 2000)};
  E2Work work{.grids = {&main_grids}, .rise_masks = options.quick ? 100u : 1000u, .seed = options.seed};
  E2Work ablation{.grids = {&main_grids}, .baselines = false, .seed = options.seed};
  for (const E2Grids& one : others) ablation.grids.push_back(&one);

  Progress progress(pictures.size() * work.calls() + few.size() * (work.calls() + ablation.calls()), 0,
                    listener);
  const auto main_scores = score_pictures(filled, pictures, work, workers, progress);
  const auto plain_scores = score_pictures(plain, few, work, workers, progress);
  const auto grid_scores = score_pictures(filled, few, ablation, workers, progress);

  ExperimentResult result{.key = "e2",
                          .title = fmt::format("E2: saliency maps of radiographs ({})", kSynthetic)};
  result.setup = {fmt::format("images   {} synthetic radiographs of {}x{} pixels, {} of each kind, seed {}; "
                              "boxes of findings known",
                              pictures.size(), kRadiographSize, kRadiographSize, pictures.size() / 3,
                              2026 + options.seed),
                  "kinds    single: one nodule; redundant: two nodules, either makes the class; combination: "
                  "a cavity and "
                  "streaks, only both make the class",
                  fmt::format("models   a small CNN trained with random patches filled (right on {:.1f} % of "
                              "these images), and the same "
                              "trained without ({:.1f} % of {})",
                              100 * accuracy(main_scores), 100 * accuracy(plain_scores), few.size()),
                  fmt::format("our map  the mean of pi, last and mean gain, read as log-odds; {} calls of "
                              "the model per image, fill {}, "
                              "edges softened; chosen before any test image was explained",
                              main_grids.budget, kE2Fills[0]),
                  fmt::format("others   GradCAM of the last convolution, gradients, integrated gradients "
                              "from the fill in 32 steps, RISE with "
                              "{} masks, random",
                              work.rise_masks)};
  if (options.quick) result.setup.push_back("QUICK: a few images and masks, to look at; not the experiment");
  const std::string with_filled = fmt::format("{}, trained with filled patches", kSynthetic);
  const std::string with_plain = fmt::format("{}, plain, {} images", kSynthetic, few.size());
  result.tables.push_back(methods_table("e2_maps", with_filled, main_scores));
  result.tables.push_back(tests_table("e2_tests", with_filled, main_scores));
  result.tables.push_back(pixels_table("e2_pixels", with_filled, main_scores));
  result.tables.push_back(groups_table("e2_kinds", with_filled, main_scores));
  result.tables.push_back(regions_table(main_scores, plain_scores));
  result.tables.push_back(
      methods_table("e2_grids", fmt::format("{}, {} images", with_filled, few.size()), grid_scores));
  result.tables.back().note +=
      " Calls per image: 1,000; 1,100 for four grids of 7x7, 2,000 for two of 14x14.";
  result.tables.push_back(methods_table("e2_plain", with_plain, plain_scores));
  result.tables.push_back(tests_table("e2_plain_tests", with_plain, plain_scores));
  result.tables.push_back(groups_table("e2_plain_kinds", with_plain, plain_scores));
  result.tables.push_back(all_tests_table("e2_all_tests", with_filled, main_scores));
  result.tables.push_back(images_table("e2_images", with_filled, main_scores));
  result.tables.push_back(images_table("e2_plain_images", with_plain, plain_scores));
  if (!options.quick) result.notes = verdicts(main_scores, split_by_loss(main_scores));
  return result;
}

std::vector<NewFile> radiograph_files(const std::vector<TestRadiograph>& images) {
  std::vector<NewFile> files;
  std::string labels = "image,label,x,y,w,h\n", findings = "image,kind,finding,x,y,w,h\n";
  for (const TestRadiograph& image : images) {
    const std::string file = image.name + ".png";
    files.push_back({file, encode_png(as_image(image.image))});
    for (const FindingBox& box : image.boxes)
      labels += fmt::format("{},{},{},{},{},{}\n", file, image.label, box.x, box.y, box.width, box.height);
    for (const FindingBox& box : image.image.boxes)
      findings += fmt::format("{},{},{},{},{},{},{}\n", file, evidence_name(image.evidence),
                              "ABC"[static_cast<int>(box.finding)], box.x, box.y, box.width, box.height);
  }
  files.push_back({"labels.csv", labels});
  files.push_back({"findings.csv", findings});
  return files;
}

}  // namespace hifi
