// What the vocabulary of one image says about its patches, and the maps that are painted from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "hifi/coalition.h"
#include "masking/patches.h"
#include "sampling/patch_plan.h"

namespace hifi {

// Names of maps. `P` is the default: the mean of pi, last and mean gain, read as log-odds. pi alone misses
// what counts only in company, last what others can replace; the map needs both.
inline constexpr const char* kMapNames[] = {"P", "pi", "last", "mean-gain", "Lmax", "U", "S", "R"};
inline constexpr const char* kDefaultMap = "P";
bool is_map_name(const std::string& name);

// One grid of an image: coalitions with the mean loss and the mean log-odds over the fills.
struct PatchVocabulary {
  std::vector<Coalition> coalitions;  // {} and all first
  std::vector<double> losses;
  std::vector<double> logits;  // as losses: minus the log-odds
};

struct PatchValues {
  // By map name, one number per player; NaN where nothing was seen.
  std::vector<std::vector<double>> maps;

  const std::vector<double>& map(const std::string& name) const;
};

PatchValues patch_values(std::size_t players, const PatchPlan& plan, const PatchVocabulary& vocabulary,
                         Workers& workers);

// One number per pixel: bilinear between the centres of the patches of a grid, so that the largest number is
// at the centre of its patch; constant on segments, 0 on pixels of no player.
std::vector<float> paint(const Patches& patches, std::span<const double> values);

// The strongest patch and its neighbours, then the strongest outside of them, ...: parts of one finding are
// redundant with each other, so what two findings have to do with each other is asked of regions.
struct Region {
  std::uint32_t seed = 0;
  std::vector<std::uint32_t> players;
};
std::vector<Region> find_regions(std::span<const double> values,
                                 const std::vector<std::vector<std::uint32_t>>& neighbours, std::size_t most);

// The players of the largest values, largest first, the first of ties; those of NaN never.
std::vector<std::uint32_t> strongest(std::span<const double> values, std::size_t most);

}  // namespace hifi
