// Players of an image: the patches of a grid, or the segments of a label mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/recipe.h"

namespace hifi {

inline constexpr std::size_t kMaxPatches = 784;
inline constexpr std::uint32_t kNoPatch = UINT32_MAX;  // pixels of no player, which stay as they are

struct Patches {
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<std::string> names;
  std::vector<std::uint32_t> owner;  // of each pixel: a player or kNoPatch
  // Of a grid: where rows and columns of patches begin, with the end.
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;

  std::size_t players() const { return names.size(); }
  bool is_grid() const { return !rows.empty(); }
};

struct Grid {
  std::size_t rows = 7;
  std::size_t columns = 7;

  // "14x14". Throws Error(usage).
  static Grid parse(const std::string& text);
};

// Boundaries at floor(k H / R) and floor(k W / C), names r0c0, r0c1, ... A shifted direction has boundaries
// half a patch later, and one patch more: the first and the last are halves. Throws Error(input) for a grid
// larger than the image or of more than kMaxPatches.
Patches grid_patches(const Grid& grid, std::size_t height, std::size_t width, bool shift_down = false,
                     bool shift_across = false);

// The distinct labels of a mask of one channel, but 0, ascending. Throws Error(input); `path` is for
// messages.
std::vector<std::uint32_t> mask_labels(const Image& mask, const std::string& path);

// Segments named s1, s2, ... by label. The mask has the size of its image and is fitted like it, without
// mixing labels: each pixel takes the label under its centre.
Patches segment_patches(const Image& mask, const std::vector<std::uint32_t>& labels, const Recipe& recipe);

// Which players touch, also by a corner.
std::vector<std::vector<std::uint32_t>> neighbours(const Patches& patches);

}  // namespace hifi
