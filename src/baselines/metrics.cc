#include "baselines/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hifi {
namespace {

std::size_t top_count(std::size_t pixels, double share) {
  return static_cast<std::size_t>(std::llround(share * static_cast<double>(pixels)));
}

// Indices of the values, largest first; equal values keep their order.
std::vector<std::uint32_t> descending(std::span<const double> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] > values[b]; });
  return order;
}

double distance_to(const Box& box, double y, double x) {
  const double dx = std::max({box.x - x, x - (box.x + box.width), 0.0});
  const double dy = std::max({box.y - y, y - (box.y + box.height), 0.0});
  return std::sqrt(dx * dx + dy * dy);
}

// Boundaries of cells as those of the patches of a grid: floor(k * side / cells).
std::vector<std::size_t> cell_of_line(std::size_t side, std::size_t cells) {
  std::vector<std::size_t> cell(side);
  for (std::size_t k = 0; k < cells; ++k)
    for (std::size_t i = k * side / cells; i < (k + 1) * side / cells; ++i) cell[i] = k;
  return cell;
}

std::vector<PixelMask> masks(const RemovalOrder& order, std::size_t steps, bool deletion) {
  std::vector<PixelMask> result;
  for (std::size_t step = 0; step <= steps; ++step) {
    const auto gone = static_cast<std::size_t>(
        std::llround(static_cast<double>(step * order.ranks) / static_cast<double>(steps)));
    PixelMask mask(order.rank.size());
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = (order.rank[i] < gone) != deletion;
    result.push_back(std::move(mask));
  }
  return result;
}

}  // namespace

PixelMask mask_of_boxes(std::size_t height, std::size_t width, std::span<const Box> boxes) {
  PixelMask mask(height * width, 0);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (const Box& box : boxes)
        if (distance_to(box, static_cast<double>(y) + 0.5, static_cast<double>(x) + 0.5) == 0)
          mask[y * width + x] = 1;
  return mask;
}

double pointing_game(const SaliencyMap& map, std::span<const Box> boxes, double tolerance) {
  const double largest = *std::max_element(map.values.begin(), map.values.end());
  std::size_t maxima = 0, hits = 0;
  for (std::size_t y = 0; y < map.height; ++y)
    for (std::size_t x = 0; x < map.width; ++x) {
      if (map.at(y, x) != largest) continue;
      ++maxima;
      hits += std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
        return distance_to(box, static_cast<double>(y) + 0.5, static_cast<double>(x) + 0.5) <= tolerance;
      });
    }
  return static_cast<double>(hits) / static_cast<double>(maxima);
}

double iou_of_top(const SaliencyMap& map, const PixelMask& boxes, double share) {
  const auto order = descending(map.values);
  const std::size_t top = top_count(order.size(), share);
  std::size_t both = 0;
  for (std::size_t i = 0; i < top; ++i) both += boxes[order[i]];
  const auto in_boxes = static_cast<std::size_t>(std::count(boxes.begin(), boxes.end(), 1));
  const std::size_t either = top + in_boxes - both;
  return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

double iou_ceiling(const PixelMask& boxes, double share) {
  const std::size_t top = top_count(boxes.size(), share);
  const auto in_boxes = static_cast<std::size_t>(std::count(boxes.begin(), boxes.end(), 1));
  const std::size_t more = std::max(top, in_boxes);
  return more == 0 ? 0 : static_cast<double>(std::min(top, in_boxes)) / static_cast<double>(more);
}

RemovalOrder removal_order(const SaliencyMap& map, std::size_t cells) {
  RemovalOrder result;
  result.rank.resize(map.values.size());
  if (cells == 0) {
    const auto order = descending(map.values);
    for (std::size_t i = 0; i < order.size(); ++i) result.rank[order[i]] = static_cast<std::uint32_t>(i);
    result.ranks = order.size();
    return result;
  }
  const auto row = cell_of_line(map.height, cells), column = cell_of_line(map.width, cells);
  std::vector<double> sum(cells * cells, 0), count(cells * cells, 0);
  for (std::size_t y = 0; y < map.height; ++y)
    for (std::size_t x = 0; x < map.width; ++x) {
      sum[row[y] * cells + column[x]] += map.at(y, x);
      count[row[y] * cells + column[x]] += 1;
    }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= std::max(count[i], 1.0);
  const auto order = descending(sum);
  std::vector<std::uint32_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);
  for (std::size_t y = 0; y < map.height; ++y)
    for (std::size_t x = 0; x < map.width; ++x)
      result.rank[y * map.width + x] = rank[row[y] * cells + column[x]];
  result.ranks = order.size();
  return result;
}

std::vector<PixelMask> deletion_masks(const RemovalOrder& order, std::size_t steps) {
  return masks(order, steps, true);
}

std::vector<PixelMask> insertion_masks(const RemovalOrder& order, std::size_t steps) {
  return masks(order, steps, false);
}

double mean_height(std::span<const double> curve) {
  double sum = (curve.front() + curve.back()) / 2;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) sum += curve[i];
  return sum / static_cast<double>(curve.size() - 1);
}

double roc_auc(std::span<const double> high, std::span<const double> low) {
  double wins = 0;
  for (double a : high)
    for (double b : low) wins += a > b ? 1.0 : a == b ? 0.5 : 0.0;
  return wins / (static_cast<double>(high.size()) * static_cast<double>(low.size()));
}

}  // namespace hifi
