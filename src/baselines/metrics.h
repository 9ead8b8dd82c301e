// How good a saliency map is: does it point into the boxes, and does the model lose its answer when what the
// map calls important is taken away?
//
// Maps are heights x widths of numbers, row-major, larger = more important. Nothing here knows how a map was
// made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/recipe.h"

namespace hifi {

struct SaliencyMap {
  std::size_t height = 0, width = 0;
  std::vector<double> values;

  double at(std::size_t y, std::size_t x) const { return values[y * width + x]; }
};

using PixelMask = std::vector<std::uint8_t>;  // 1 = in

// Boxes are in pixels of the map; a pixel belongs to a box if its centre does.
PixelMask mask_of_boxes(std::size_t height, std::size_t width, std::span<const Box> boxes);

// Pointing Game (doi 10.1007/s11263-017-1059-x): 1 if the maximum of the map lies in a box, or within
// `tolerance` pixels of one; several equal maxima count the share of them that do, so that a flat map earns
// what a random point would.
double pointing_game(const SaliencyMap& map, std::span<const Box> boxes, double tolerance = 0);

// Intersection over union of the boxes and the `share` of pixels with the largest values (equal values: in
// order of rows, then columns).
double iou_of_top(const SaliencyMap& map, const PixelMask& boxes, double share = 0.15);
// The best that any map can reach: the top pixels are as many as they are, whatever the size of the boxes.
double iou_ceiling(const PixelMask& boxes, double share = 0.15);

// The order in which deletion takes pixels away: rank 0 goes first. Whole cells of a grid of `cells` x
// `cells` where cells > 0 (then every pixel of a cell has its rank): the map is averaged within each cell, so
// that no map gains by scattered pixels.
struct RemovalOrder {
  std::vector<std::uint32_t> rank;  // of each pixel
  std::size_t ranks = 0;            // pixels or cells
};
RemovalOrder removal_order(const SaliencyMap& map, std::size_t cells = 0);

// Masks of what is visible after each of `steps` + 1 equal steps: deletion from all to nothing, insertion
// from nothing to all.
std::vector<PixelMask> deletion_masks(const RemovalOrder& order, std::size_t steps);
std::vector<PixelMask> insertion_masks(const RemovalOrder& order, std::size_t steps);

// Area under equally spaced points, trapezoids, divided by the width: the mean height of the curve (RISE,
// arXiv 1806.07421). REQUIRES: at least two points
double mean_height(std::span<const double> curve);

// Chance that a number of `high` exceeds one of `low`, ties counting one half.
double roc_auc(std::span<const double> high, std::span<const double> low);

}  // namespace hifi
