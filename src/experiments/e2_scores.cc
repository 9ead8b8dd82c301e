#include <fmt/format.h>

#include <mutex>

#include "core/files.h"
#include "core/interrupt.h"
#include "experiments/e2.h"
#include "hifi/error.h"
#include "stats/wilcoxon.h"

namespace hifi {
namespace {

constexpr std::size_t kMasksPerMap = 2 * (2 * (kPixelSteps + 1) + 2 * (kPooledSteps + 1));
// Half of the masks of a curve pair: batches without padding.
constexpr std::size_t kRows = kMasksPerMap / 4;

ScoredPicture score_picture(const E2Model& model, const E2Picture& picture, const E2Work& work) {
  ScoredPicture result{.name = picture.name, .group = picture.group, .label = picture.label};
  result.ceiling = iou_ceiling(mask_of_boxes(picture.shape.height, picture.shape.width, picture.boxes));
  const auto add = [&](const std::string& name, const SaliencyMap& map) {
    result.maps.push_back({name, score_map(model, picture, map)});
  };
  for (const E2Grids* grids : work.grids) {
    OurAnswer answer = explain_picture(model, picture, *grids);
    add(grids_name(*grids), answer.map);
    answer.map = {};
    if (grids == work.grids.front()) result.ours = std::move(answer);
  }
  if (work.baselines)
    for (const NamedMap& named : baseline_maps(model, picture, work.rise_masks, work.seed))
      add(named.name, named.map);
  return result;
}

}  // namespace

std::uint64_t E2Work::calls() const {
  std::uint64_t total = grids.size() * kMasksPerMap;
  for (const E2Grids* one : grids) total += one->budget;
  if (baselines) total += rise_masks + 7 * kMasksPerMap;
  return total;
}

std::vector<ScoredPicture> score_pictures(const E2Model& model, const std::vector<E2Picture>& pictures,
                                          const E2Work& work, Workers& workers, Progress& progress) {
  std::vector<ScoredPicture> results(pictures.size());
  std::mutex mutex;
  workers.parallel_for(pictures.size(), [&](std::size_t k) {
    check_interrupt();
    results[k] = score_picture(model, pictures[k], work);
    const std::lock_guard lock(mutex);
    progress.advance(work.calls());
  });
  return results;
}

std::string grids_name(const E2Grids& grids) {
  return fmt::format("Hi-Fi {0}x{0}, {1} grid{2}", grids.cells, grids.offsets, grids.offsets == 1 ? "" : "s");
}

const std::vector<E2Metric>& e2_metrics() {
  static const std::vector<E2Metric> metrics = {
      {"PG", true, [](const MapScores& s) { return s.pointing; }},
      {"PG near", true, [](const MapScores& s) { return s.pointing_near; }},
      {"IoU@15", true, [](const MapScores& s) { return s.iou; }},
      {"del", false, [](const MapScores& s) { return s.pooled_deletion[0]; }},
      {"del other", false, [](const MapScores& s) { return s.pooled_deletion[1]; }},
      {"ins", true, [](const MapScores& s) { return s.pooled_insertion[0]; }},
      {"ins other", true, [](const MapScores& s) { return s.pooled_insertion[1]; }},
      {"del px", false, [](const MapScores& s) { return s.deletion[0]; }},
      {"del px other", false, [](const MapScores& s) { return s.deletion[1]; }},
      {"ins px", true, [](const MapScores& s) { return s.insertion[0]; }},
      {"ins px other", true, [](const MapScores& s) { return s.insertion[1]; }},
  };
  return metrics;
}

std::vector<double> values_of(const std::vector<ScoredPicture>& pictures, std::size_t map,
                              const E2Metric& metric) {
  std::vector<double> values;
  for (const ScoredPicture& picture : pictures) values.push_back(metric.of(picture.maps[map].scores));
  return values;
}

std::optional<double> paired_p(const std::vector<ScoredPicture>& pictures, std::size_t first,
                               std::size_t second, const E2Metric& metric) {
  std::vector<double> differences = values_of(pictures, first, metric);
  const std::vector<double> others = values_of(pictures, second, metric);
  for (std::size_t k = 0; k < differences.size(); ++k) differences[k] -= others[k];
  const auto test = wilcoxon(differences);
  if (!test) return std::nullopt;
  return test->p;
}

E2Model open_e2_model(const std::string& name, const std::string& path, const std::string& torchscript,
                      const Recipe& recipe, Link link) {
  E2Model model;
  model.name = name;
  model.link = link;
  const NetworkOptions options{.path = path, .rows = kRows, .shape = recipe.shape()};
  const std::string content = read_file(path);
  const bool torch = content.starts_with("PK");
  OpenedNetwork opened = torch ? open_torch_network(content, options) : open_onnx_network(content, options);
  model.network = std::move(opened.network);
  if (!torchscript.empty())
    model.gradients = open_gradient_model(read_file(torchscript), torchscript, recipe.shape());
  model.set_up(recipe.channels_first);
  return model;
}

}  // namespace hifi
