// Experiment E2, one image at a time: our map and what its regions have to do with each other, the maps of
// others, and what each is worth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "baselines/gradients.h"
#include "baselines/maps.h"
#include "baselines/masked_pictures.h"
#include "baselines/metrics.h"
#include "data/recipe.h"
#include "game/image_game.h"
#include "masking/patch_mask.h"
#include "masking/patches.h"
#include "model/network.h"
#include "sampling/patch_plan.h"

namespace hifi {

// A model that is explained. Gradients come from its TorchScript form, everything else from `network`.
struct E2Model {
  std::string name;
  std::unique_ptr<Network> network;
  std::unique_ptr<GradientModel> gradients;  // absent: no gradient baselines
  std::string layer;                         // of GradCAM; empty: the last convolution
  Link link = Link::sigmoid;
  std::unique_ptr<ImageNetwork> patches;
  std::unique_ptr<MaskedPictures> pixels;
  std::unique_ptr<std::mutex> one_at_a_time = std::make_unique<std::mutex>();  // of gradients

  void set_up(bool channels_first);
};

// One image to explain, as models get it. Fill 0 is the explainer's, fill 1 another one that maps are judged
// by, too.
struct E2Picture {
  std::string name, group;
  std::uint64_t number = 0;  // keys random maps
  std::size_t label = 0;
  ModelInput shape;  // with the image's numbers
  std::array<std::vector<float>, 2> fills;
  std::vector<Box> boxes;
};
inline constexpr const char* kE2Fills[] = {"blur", "mean"};

E2Picture make_picture(const Planes& fitted, const Recipe& recipe, std::vector<Box> boxes);

// Grids of patches with their masks and coalitions; serves all images of a size.
struct E2Grids {
  struct One {
    Patches patches;
    std::unique_ptr<PatchMask> mask;
    PatchPlan plan;
  };
  std::size_t cells = 7, offsets = 1, budget = 0;
  double feather = 0;
  std::vector<One> grids;
};
// `budget` model calls per image, shared by the grids.
E2Grids make_grids(std::size_t cells, std::size_t offsets, std::size_t budget, std::size_t height,
                   std::size_t width, std::uint64_t seed);

// Between the strongest regions (a patch and its neighbours), largest over pairs: of the mixed difference at
// {} and at the rest of the image whole.
struct RegionEffects {
  double synergy = 0, redundancy = 0;  // over both ends
  double redundancy_full = 0;          // where the rest is whole
  double contrast() const { return synergy - redundancy; }
};

struct OurAnswer {
  SaliencyMap map;
  RegionEffects loss, probability;  // two readings of the same answers
  double full = 0, empty = 0;       // probability of the class: image and pure fill
  std::size_t calls = 0;
};
OurAnswer explain_picture(const E2Model& model, const E2Picture& picture, const E2Grids& grids);

// Probability of the class for pictures of which each pixel is shown to a share.
std::vector<double> probabilities(const E2Model& model, const E2Picture& picture, std::size_t fill,
                                  std::span<const float> shares, std::size_t count);

struct MapScores {
  double pointing = 0, pointing_near = 0, iou = 0;
  // By fill.
  std::array<double, 2> deletion{}, insertion{}, pooled_deletion{}, pooled_insertion{};
};
inline constexpr std::size_t kPixelSteps = 14, kPooledSteps = 28, kPooledCells = 14;
// The usual tolerance of the Pointing Game, 15 pixels of an image of 224.
double near_pixels(std::size_t height);

MapScores score_map(const E2Model& model, const E2Picture& picture, const SaliencyMap& map);

struct NamedMap {
  std::string name;
  SaliencyMap map;
};
// GradCAM, gradients and integrated gradients raw and smoothed (where the model has gradients), RISE with
// `masks` masks, random.
std::vector<NamedMap> baseline_maps(const E2Model& model, const E2Picture& picture, std::size_t masks,
                                    std::uint64_t seed);

}  // namespace hifi
