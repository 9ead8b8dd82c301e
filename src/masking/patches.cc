#include "masking/patches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "hifi/error.h"

namespace hifi {

namespace {

// Where the parts of `length` pixels begin, with the end.
std::vector<std::size_t> boundaries(std::size_t parts, std::size_t length, bool shift) {
  std::vector<std::size_t> at{0};
  for (std::size_t k = 1; k <= parts; ++k) {
    at.push_back(shift ? (2 * k - 1) * length / (2 * parts) : k * length / parts);
  }
  if (shift) at.push_back(length);
  return at;
}

void check_grid(const Grid& grid, std::size_t height, std::size_t width, bool shifted) {
  const std::size_t least = shifted ? 2 : 1;
  if (grid.rows * least > height || grid.columns * least > width) {
    throw input_error(
        fmt::format("--grid {}x{}: larger than the fitted image of {} x {} pixels{}", grid.rows, grid.columns,
                    height, width, shifted ? ", which is shifted by half a patch" : ""),
        "take fewer rows and columns");
  }
  const std::size_t patches = (grid.rows + (shifted ? 1 : 0)) * (grid.columns + (shifted ? 1 : 0));
  if (patches > kMaxPatches) {
    throw input_error(fmt::format("--grid {}x{}: {} patches are more than {}", grid.rows, grid.columns,
                                  patches, kMaxPatches),
                      shifted ? "take fewer, or --offsets 1" : "take fewer");
  }
}

}  // namespace

Grid Grid::parse(const std::string& text) {
  Grid grid{0, 0};
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, grid.rows);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x') {
    const auto second = std::from_chars(first.ptr + 1, end, grid.columns);
    const bool sane = grid.rows >= 1 && grid.columns >= 1 && grid.rows <= 100'000 && grid.columns <= 100'000;
    if (second.ec == std::errc() && second.ptr == end && sane) return grid;
  }
  throw Error(ErrorCode::usage, fmt::format("--grid {}: must be ROWSxCOLUMNS like 14x14", text));
}

Patches grid_patches(const Grid& grid, std::size_t height, std::size_t width, bool shift_down,
                     bool shift_across) {
  check_grid(grid, height, width, shift_down || shift_across);
  Patches patches{.height = height,
                  .width = width,
                  .owner = std::vector<std::uint32_t>(height * width),
                  .rows = boundaries(grid.rows, height, shift_down),
                  .columns = boundaries(grid.columns, width, shift_across)};
  for (std::size_t r = 0; r + 1 < patches.rows.size(); ++r) {
    for (std::size_t c = 0; c + 1 < patches.columns.size(); ++c) {
      const auto player = static_cast<std::uint32_t>(patches.names.size());
      patches.names.push_back(fmt::format("r{}c{}", r, c));
      for (std::size_t y = patches.rows[r]; y < patches.rows[r + 1]; ++y) {
        for (std::size_t x = patches.columns[c]; x < patches.columns[c + 1]; ++x)
          patches.owner[y * width + x] = player;
      }
    }
  }
  return patches;
}

std::vector<std::uint32_t> mask_labels(const Image& mask, const std::string& path) {
  if (mask.channels != 1) {
    throw input_error(fmt::format("{}: a label mask has one channel, this has {}", path, mask.channels),
                      "save the labels as a grey PNG of 8 or 16 bits");
  }
  std::set<std::uint32_t> labels(mask.values.begin(), mask.values.end());
  labels.erase(0);
  if (labels.empty()) throw input_error(fmt::format("{}: all labels are 0, which is no segment", path));
  return {labels.begin(), labels.end()};
}

Patches segment_patches(const Image& mask, const std::vector<std::uint32_t>& labels, const Recipe& recipe) {
  Patches patches{.height = recipe.height, .width = recipe.width, .owner = {}};
  for (const std::uint32_t label : labels) patches.names.push_back(fmt::format("s{}", label));
  // The fitted pixel (x, y) is where the recipe sends a point of the file: its inverse from two points.
  const Box unit = recipe.fit_box({0, 0, 1, 1}, mask.height, mask.width);
  const auto source = [](double at, double origin, double scale, std::size_t size) {
    const double place = std::floor((at + .5 - origin) / scale);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(size - 1)));
  };
  for (std::size_t y = 0; y < recipe.height; ++y) {
    const std::size_t row = source(static_cast<double>(y), unit.y, unit.height, mask.height);
    for (std::size_t x = 0; x < recipe.width; ++x) {
      const std::size_t column = source(static_cast<double>(x), unit.x, unit.width, mask.width);
      const std::uint32_t label = mask.values[row * mask.width + column];
      const auto found = std::lower_bound(labels.begin(), labels.end(), label);
      const bool known = found != labels.end() && *found == label;
      patches.owner.push_back(known ? static_cast<std::uint32_t>(found - labels.begin()) : kNoPatch);
    }
  }
  return patches;
}

std::vector<std::vector<std::uint32_t>> neighbours(const Patches& patches) {
  std::vector<std::set<std::uint32_t>> touching(patches.players());
  const auto touch = [&](std::uint32_t a, std::uint32_t b) {
    if (a == b || a == kNoPatch || b == kNoPatch) return;
    touching[a].insert(b);
    touching[b].insert(a);
  };
  const std::size_t w = patches.width;
  for (std::size_t y = 0; y < patches.height; ++y) {
    for (std::size_t x = 0; x < w; ++x) {
      const std::uint32_t own = patches.owner[y * w + x];
      if (x + 1 < w) touch(own, patches.owner[y * w + x + 1]);
      if (y + 1 == patches.height) continue;
      for (std::size_t below = x == 0 ? 0 : x - 1; below <= std::min(x + 1, w - 1); ++below)
        touch(own, patches.owner[(y + 1) * w + below]);
    }
  }
  std::vector<std::vector<std::uint32_t>> lists;
  for (const auto& set : touching) lists.emplace_back(set.begin(), set.end());
  return lists;
}

}  // namespace hifi
