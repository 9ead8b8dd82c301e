#include "experiments/e2_picture.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "audit/patch_values.h"
#include "core/parallel.h"
#include "hifi/error.h"
#include "masking/fill.h"

namespace hifi {
namespace {

constexpr std::size_t kRegionsLooked = 3;
// Each region and each pair of them, shown alone and taken away.
constexpr std::size_t kRegionCalls = 2 * (kRegionsLooked + kRegionsLooked * (kRegionsLooked - 1) / 2);

ClassReading reading_of(const E2Model& model, const E2Picture& picture) {
  return {.measure = ClassMeasure::log, .link = model.link, .probabilities = true, .target = picture.label};
}

double to_probability(double logit) { return 1 / (1 + std::exp(-logit)); }

using PatchList = std::vector<std::uint32_t>;

Coalition union_of(std::size_t players, const PatchList& a, const PatchList& b) {
  Coalition c(players);
  for (std::uint32_t i : a) c.insert(i);
  for (std::uint32_t i : b) c.insert(i);
  return c;
}

Coalition all_but(const Coalition& out, std::size_t players) {
  Coalition c = Coalition::full(players);
  for (std::size_t i = 0; i < players; ++i)
    if (out.contains(i)) c = c.without(i);
  return c;
}

void take(RegionEffects& effects, double at_empty, double at_full) {
  effects.synergy = std::max({effects.synergy, at_empty, at_full});
  effects.redundancy = std::max({effects.redundancy, -at_empty, -at_full});
  effects.redundancy_full = std::max(effects.redundancy_full, -at_full);
}

}  // namespace

void E2Model::set_up(bool channels_first) {
  patches = std::make_unique<ImageNetwork>(*network, channels_first);
  pixels = std::make_unique<MaskedPictures>(*network, channels_first);
}

E2Picture make_picture(const Planes& fitted, const Recipe& recipe, std::vector<Box> boxes) {
  E2Picture picture;
  picture.boxes = std::move(boxes);
  picture.shape = {fitted.channels, fitted.height, fitted.width, recipe.channels_first,
                   recipe.normalise(fitted)};
  for (std::size_t f = 0; f < 2; ++f)
    picture.fills[f] = recipe.normalise(Fills(Fill::parse(kE2Fills[f]), 0, {}, {}).make(fitted, 0, 0));
  return picture;
}

E2Grids make_grids(std::size_t cells, std::size_t offsets, std::size_t budget, std::size_t height,
                   std::size_t width, std::uint64_t seed) {
  E2Grids result{.cells = cells, .offsets = offsets, .budget = budget};
  // Soft edges, but never so soft that a small patch has no middle.
  result.feather = std::min(2.0, static_cast<double>(height) / static_cast<double>(cells) / 4);
  for (std::size_t k = 0; k < offsets; ++k) {
    // Two grids: the second is shifted both ways; four: also by each way alone.
    const bool down = k > 0 && (offsets == 2 || k != 2), across = k > 0 && (offsets == 2 || k != 1);
    E2Grids::One grid;
    grid.patches = grid_patches({cells, cells}, height, width, down, across);
    grid.mask = std::make_unique<PatchMask>(grid.patches, result.feather);
    grid.plan = plan_patches(grid.patches.players(), budget / offsets, k == 0 ? kRegionCalls : 0, seed, k);
    if (grid.plan.kind == PatchPlan::Kind::search)
      throw input_error(fmt::format("a budget of {} calls per image is too small for {} patches",
                                    budget / offsets, grid.patches.players()),
                        fmt::format("it needs {}", 4 * grid.patches.players() + 4));
    result.grids.push_back(std::move(grid));
  }
  return result;
}

OurAnswer explain_picture(const E2Model& model, const E2Picture& picture, const E2Grids& grids) {
  OurAnswer answer;
  const ClassReading reading = reading_of(model, picture);
  const ImageInput input{picture.shape.values, {picture.fills[0]}};
  const std::size_t height = picture.shape.height, width = picture.shape.width;
  answer.map = {height, width, std::vector<double>(height * width, 0.0)};
  Workers alone(1);  // images are what runs side by side
  for (const E2Grids::One& grid : grids.grids) {
    const std::size_t players = grid.patches.players();
    ImageGame game(*model.patches, input, *grid.mask, reading);
    const auto ask = [&](const std::vector<Coalition>& coalitions) {
      std::vector<Reading> readings(coalitions.size());
      game.readings(coalitions, readings, alone);
      answer.calls += coalitions.size();
      return readings;
    };
    PatchVocabulary vocabulary{.coalitions = grid.plan.coalitions};
    for (const Reading& r : ask(grid.plan.coalitions)) {
      vocabulary.losses.push_back(r.loss);
      vocabulary.logits.push_back(-r.logit);
    }
    const PatchValues values = patch_values(players, grid.plan, vocabulary, alone);
    const std::vector<double>& strength = values.map(kDefaultMap);
    const std::vector<float> painted = paint(grid.patches, strength);
    for (std::size_t i = 0; i < painted.size(); ++i)
      answer.map.values[i] += static_cast<double>(painted[i]) / static_cast<double>(grids.grids.size());
    if (&grid != &grids.grids.front()) continue;

    answer.empty = to_probability(-vocabulary.logits[0]);
    answer.full = to_probability(-vocabulary.logits[1]);
    const auto regions = find_regions(strength, neighbours(grid.patches), kRegionsLooked);
    std::vector<Coalition> shown;
    for (std::size_t a = 0; a < regions.size(); ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        shown.push_back(union_of(players, regions[a].players, regions[b].players));
        shown.push_back(all_but(shown.back(), players));
      }
    const std::vector<Reading> readings = ask(shown);
    // Losses of a, b, both, by how an answer is read.
    const auto look = [&](auto loss_of, RegionEffects& effects) {
      const double none = loss_of(-vocabulary.logits[0]), all = loss_of(-vocabulary.logits[1]);
      const auto at = [&](std::size_t a, std::size_t b, std::size_t away) {
        return loss_of(readings[2 * (a * (a + 1) / 2 + b) + away].logit);
      };
      for (std::size_t a = 1; a < regions.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
          // Delta(C) = L(C+a) + L(C+b) - L(C+ab) - L(C), at C = {} and at C = all but a and b.
          take(effects, at(a, a, 0) + at(b, b, 0) - at(a, b, 0) - none,
               at(a, a, 1) + at(b, b, 1) - all - at(a, b, 1));
    };
    look([](double logit) { return std::log1p(std::exp(-logit)); }, answer.loss);
    look([](double logit) { return 1 - to_probability(logit); }, answer.probability);
  }
  return answer;
}

std::vector<double> probabilities(const E2Model& model, const E2Picture& picture, std::size_t fill,
                                  std::span<const float> shares, std::size_t count) {
  const ClassReading reading = reading_of(model, picture);
  const auto answers = model.pixels->answers(picture.shape.values, picture.fills[fill], shares, count);
  const std::size_t outputs = answers.size() / count;
  std::vector<double> result;
  for (std::size_t k = 0; k < count; ++k)
    result.push_back(reading.probability(std::span(answers).subspan(k * outputs, outputs)).value());
  return result;
}

double near_pixels(std::size_t height) { return 15.0 * static_cast<double>(height) / 224; }

MapScores score_map(const E2Model& model, const E2Picture& picture, const SaliencyMap& map) {
  MapScores scores;
  scores.pointing = pointing_game(map, picture.boxes);
  scores.pointing_near = pointing_game(map, picture.boxes, near_pixels(map.height));
  scores.iou = iou_of_top(map, mask_of_boxes(map.height, map.width, picture.boxes));
  const RemovalOrder pixels = removal_order(map), cells = removal_order(map, kPooledCells);
  std::vector<PixelMask> masks;
  for (auto& part : {deletion_masks(pixels, kPixelSteps), insertion_masks(pixels, kPixelSteps),
                     deletion_masks(cells, kPooledSteps), insertion_masks(cells, kPooledSteps)})
    masks.insert(masks.end(), part.begin(), part.end());
  std::vector<float> shares;
  shares.reserve(masks.size() * map.values.size());
  for (const PixelMask& mask : masks) shares.insert(shares.end(), mask.begin(), mask.end());
  for (std::size_t fill = 0; fill < 2; ++fill) {
    const std::vector<double> curve = probabilities(model, picture, fill, shares, masks.size());
    std::size_t first = 0;
    const auto next = [&](std::size_t steps) {
      const double height = mean_height(std::span(curve).subspan(first, steps + 1));
      first += steps + 1;
      return height;
    };
    scores.deletion[fill] = next(kPixelSteps);
    scores.insertion[fill] = next(kPixelSteps);
    scores.pooled_deletion[fill] = next(kPooledSteps);
    scores.pooled_insertion[fill] = next(kPooledSteps);
  }
  return scores;
}

std::vector<NamedMap> baseline_maps(const E2Model& model, const E2Picture& picture, std::size_t masks,
                                    std::uint64_t seed) {
  std::vector<NamedMap> maps;
  const std::size_t height = picture.shape.height, width = picture.shape.width;
  if (model.gradients) {
    const std::lock_guard lock(*model.one_at_a_time);
    GradientModel& gradients = *model.gradients;
    const double sigma = 4.0 * static_cast<double>(height) / 84;
    maps.push_back({"GradCAM", grad_cam(gradients, picture.shape, picture.label, model.layer)});
    maps.push_back({"gradient", vanilla_gradient(gradients, picture.shape, picture.label)});
    maps.push_back({"gradient, smoothed", smooth(maps.back().map, sigma)});
    maps.push_back({"integrated gradients",
                    integrated_gradients(gradients, picture.shape, picture.fills[0], picture.label)});
    maps.push_back({"integrated gradients, smoothed", smooth(maps.back().map, sigma)});
  }
  const MaskScore score = [&](std::span<const float> shares, std::size_t count) {
    return probabilities(model, picture, 0, shares, count);
  };
  maps.push_back(
      {"RISE", rise(score, height, width, {.masks = masks, .seed = seed, .image = picture.number})});
  maps.push_back({"random", random_map(height, width, 7, seed, picture.number)});
  return maps;
}

}  // namespace hifi
