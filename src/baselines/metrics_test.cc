#include "baselines/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/files.h"

namespace hifi {
namespace {

// 4 x 5 pixels; the largest value is at row 1, column 3.
SaliencyMap small_map() {
  return {4, 5, {0,  1,  2,  3,  4,  //
                 5,  6,  7,  19, 9,  //
                 10, 11, 12, 13, 14, 15, 16, 17, 18, 8}};
}

TEST(Metrics, BoxesCoverPixelsWhoseCentreIsInThem) {
  const std::vector<Box> boxes{{1, 0, 2, 1}, {2.6, 2, 1.2, 1.4}};
  const PixelMask expected{0, 1, 1, 0, 0,  //
                           0, 0, 0, 0, 0,  //
                           0, 0, 0, 1, 0,  // columns 2.6 .. 3.8 hold the centre 3.5, not 2.5
                           0, 0, 0, 0, 0};
  EXPECT_EQ(mask_of_boxes(4, 5, boxes), expected);
}

TEST(Metrics, PointingGame) {
  const std::vector<Box> hit{{3, 1, 1, 1}}, miss{{0, 1, 2, 2}};
  EXPECT_EQ(pointing_game(small_map(), hit), 1);
  EXPECT_EQ(pointing_game(small_map(), miss), 0);
  // The maximum is at (3.5, 1.5), the box ends at x = 2: 1.5 pixels away.
  EXPECT_EQ(pointing_game(small_map(), miss, 1.4), 0);
  EXPECT_EQ(pointing_game(small_map(), miss, 1.5), 1);
  // A flat map hits as often as a random point: 4 of 20 pixels.
  EXPECT_DOUBLE_EQ(pointing_game({4, 5, std::vector<double>(20, 7.0)}, miss), 0.2);
}

TEST(Metrics, IouOfTheTopPixels) {
  // 15 % of 20 pixels: the three largest, at (1,3), (3,3), (3,2).
  const std::vector<Box> boxes{{2, 3, 2, 1}, {0, 0, 1, 1}};
  const PixelMask mask = mask_of_boxes(4, 5, boxes);
  EXPECT_DOUBLE_EQ(iou_of_top(small_map(), mask), 2.0 / 4);
  EXPECT_DOUBLE_EQ(iou_ceiling(mask), 1);
  EXPECT_DOUBLE_EQ(iou_ceiling(mask_of_boxes(4, 5, std::vector<Box>{{0, 0, 1, 1}})), 1.0 / 3);
  EXPECT_DOUBLE_EQ(iou_ceiling(mask_of_boxes(4, 5, std::vector<Box>{{0, 0, 5, 3}})), 3.0 / 15);
  EXPECT_DOUBLE_EQ(iou_of_top(small_map(), mask, 0.05), 0);
}

TEST(Metrics, RemovalTakesTheLargestFirst) {
  const RemovalOrder order = removal_order({2, 2, {1, 4, 3, 3}});
  EXPECT_EQ(order.rank, (std::vector<std::uint32_t>{3, 0, 1, 2}));  // equal values in order
  EXPECT_EQ(deletion_masks(order, 2), (std::vector<PixelMask>{{1, 1, 1, 1}, {1, 0, 0, 1}, {0, 0, 0, 0}}));
  EXPECT_EQ(insertion_masks(order, 2), (std::vector<PixelMask>{{0, 0, 0, 0}, {0, 1, 1, 0}, {1, 1, 1, 1}}));
}

TEST(Metrics, PooledRemovalTakesWholeCells) {
  // Cells of 2 x 2 on 3 x 5 pixels: rows 0 | 1-2, columns 0-1 | 2-4. Means 1, 2, 5, 0.5: one pixel of 20
  // lifts its cell by a quarter of it only.
  const SaliencyMap map{3,
                        5,
                        {1, 1, 2, 2, 2,  //
                         0, 0, 0, 0, 3,  //
                         0, 20, 0, 0, 0}};
  const RemovalOrder order = removal_order(map, 2);
  EXPECT_EQ(order.ranks, 4u);
  EXPECT_EQ(order.rank, (std::vector<std::uint32_t>{2, 2, 1, 1, 1,  //
                                                    0, 0, 3, 3, 3,  //
                                                    0, 0, 3, 3, 3}));
  EXPECT_EQ(deletion_masks(order, 4)[1], (PixelMask{1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1}));
}

TEST(Metrics, MeanHeightIsTheTrapezoidRule) {
  EXPECT_DOUBLE_EQ(mean_height(std::vector<double>{1, 0}), 0.5);
  EXPECT_DOUBLE_EQ(mean_height(std::vector<double>{1, 1, 0}), 0.75);
  EXPECT_DOUBLE_EQ(mean_height(std::vector<double>{0.9, 0.5, 0.1, 0.1}), (0.7 + 0.3 + 0.1) / 3);
}

// The class's probability in a linear model of what is visible; all else is 0.
double probability(const std::vector<double>& image, const std::vector<double>& weights,
                   const PixelMask& visible) {
  double z = 0;
  for (std::size_t i = 0; i < image.size(); ++i) z += visible[i] != 0 ? weights[i] * image[i] : 0;
  return 1 / (1 + std::exp(-z));
}

TEST(Metrics, AgreeWithQuantus) {
  const auto stored =
      nlohmann::json::parse(read_file(HIFI_SOURCE_DIR "/tests/fixtures/metrics/quantus.json"));
  const std::size_t height = stored.at("height"), width = stored.at("width");
  std::size_t hits = 0;
  for (const auto& c : stored.at("cases")) {
    const SaliencyMap map{height, width, c.at("map")};
    std::vector<Box> boxes;
    for (const std::array<double, 4> b : c.at("boxes")) boxes.push_back({b[0], b[1], b[2], b[3]});
    EXPECT_EQ(pointing_game(map, boxes), c.at("pointing").get<double>());
    hits += c.at("pointing").get<std::size_t>();
    // Quantus counts the pixels in common; the top 15 % of 200 pixels are 30.
    const PixelMask mask = mask_of_boxes(height, width, boxes);
    const double common = c.at("top"), boxed = std::accumulate(mask.begin(), mask.end(), 0.0);
    EXPECT_DOUBLE_EQ(iou_of_top(map, mask), common / (30 + boxed - common));
    // Its curve lacks the point where nothing is gone.
    const std::vector<PixelMask> masks = deletion_masks(removal_order(map), 10);
    const std::vector<double> curve = c.at("flipping");
    ASSERT_EQ(curve.size() + 1, masks.size());
    for (std::size_t k = 0; k < curve.size(); ++k)
      EXPECT_NEAR(probability(c.at("image"), c.at("weights"), masks[k + 1]), curve[k], 1e-6);
  }
  EXPECT_EQ(hits, 6u);
}

TEST(Metrics, RocAuc) {
  EXPECT_DOUBLE_EQ(roc_auc(std::vector<double>{2, 3}, std::vector<double>{0, 1}), 1);
  EXPECT_DOUBLE_EQ(roc_auc(std::vector<double>{1, 3}, std::vector<double>{1, 2}), 0.625);
}

}  // namespace
}  // namespace hifi
