// What an audit of images is about, opened and checked: the list of images, the model, the recipe, the
// patches, the fills and the coalitions. Nothing here is expensive but a look at every image.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "audit/image_request.h"
#include "audit/patch_values.h"
#include "core/parallel.h"
#include "data/image_list.h"
#include "data/recipe.h"
#include "game/image_game.h"
#include "hifi/profile.h"
#include "masking/fill.h"
#include "masking/patch_mask.h"
#include "masking/patches.h"
#include "model/network.h"
#include "sampling/patch_plan.h"

namespace hifi {

struct ImageModel {
  std::unique_ptr<Network> network;
  std::string format;
  std::string hash;
  bool probabilities = false;       // as far as the file says
  std::vector<std::string> labels;  // of the classes, as far as the file says
  std::string made_by;              // the operator that gives the output; empty: the file does not tell
  bool linear = false;              // a linear layer: its output has no range
};

// Patches of one offset with their masks. Of a grid they serve every image.
struct PatchSet {
  Patches patches;
  std::unique_ptr<PatchMask> mask;
};

struct ImageSubject {
  ImageRequest request;
  ImageList list;
  std::vector<std::string> hashes;  // of the images' files
  ImageModel model;
  std::vector<std::string> classes;  // their names: as given, or of the model, or none
  Recipe recipe;
  Grid grid;
  std::vector<std::string> players;   // of the first grid, or all segments
  std::vector<std::uint32_t> labels;  // of segments
  std::vector<PatchSet> grids;        // one per offset; none for segments
  std::vector<PatchPlan> plans;       // one per offset
  double feather = 0;                 // as used
  std::unique_ptr<Fills> fills;
  std::size_t fill_draws = 1;
  bool all_fills = true;                          // every fill that exists is used
  ClassReading reading;                           // but the class
  std::vector<std::optional<std::size_t>> truth;  // of each image; absent: the class that the model names
  std::string outputs;                            // how they are read, and why
  double calls_per_second = 0;
  std::uint64_t budget = 0;  // model calls per image
  Shard shard;

  std::uint64_t bytes = 0;
  std::vector<Warning> warnings;
  std::vector<std::string> notes;
  std::string provenance;  // JSON

  std::size_t images() const { return list.images.size(); }
  // Of the shard.
  std::size_t own_images() const {
    return images() * shard.index / shard.count - images() * (shard.index - 1) / shard.count;
  }
  std::size_t offsets() const { return plans.size(); }
  // Model calls per image, at most.
  std::uint64_t calls() const;
  std::string class_name(std::size_t number) const;

  Planes fitted(std::size_t image) const;
  // What the model is shown of an image.
  ImageInput input(std::size_t image) const;
  // The patches of an image: those of the grids, or its own segments.
  std::vector<PatchSet> segments(std::size_t image) const;
};

// Coalitions that are chosen after the first answers: all pairs of the strongest patches at both ends, and
// the regions.
inline constexpr std::size_t kPairedPatches = 8;
inline constexpr std::size_t kRegions = 3;
inline constexpr std::size_t kChosenLater = kPairedPatches * (kPairedPatches - 1) + 4 * kRegions;

inline constexpr double kImageTies = 5e-5;  // of networks: shares of max|L| below which contexts tie

// Throws Error: usage, input (does not fit), model (fails or is non-deterministic). `budget` is that of a run
// that goes on: a machine may be faster another time.
ImageSubject open_image_subject(const ImageRequest& request, Workers& workers, const Shard& shard = {},
                                const std::optional<std::uint64_t>& budget = {});

// ONNX or TorchScript, for inputs of the recipe's shape.
ImageModel open_image_model(const ImageRequest& request, const std::optional<Recipe>& recipe);

}  // namespace hifi
