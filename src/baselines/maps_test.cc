#include "baselines/maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "hifi/error.h"

namespace hifi {
namespace {

std::string fixture(const std::string& name) {
  return read_file(std::string(HIFI_SOURCE_DIR) + "/tests/fixtures/gradients/" + name);
}

std::unique_ptr<GradientModel> linear() {
  return open_gradient_model(fixture("linear.pt"), "linear.pt", {1, 2, 3});
}
std::unique_ptr<GradientModel> small() {
  return open_gradient_model(fixture("small.pt"), "small.pt", {2, 8, 8});
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << "at " << i;
}

TEST(Gradients, OfALinearModelAreItsWeights) {
  // Outputs 2 (w x) with w = 0..5 and their squares.
  const auto model = linear();
  const std::vector<float> inputs{1, -2, 3, 0, 5, -1, 7, 7, 7, 7, 7, 7};
  std::vector<float> found(12);
  model->gradients(inputs, 2, 1, found);
  EXPECT_EQ(found, (std::vector<float>{0, 2, 8, 18, 32, 50, 0, 2, 8, 18, 32, 50}));
  const ModelInput input{1, 2, 3, true, {inputs.begin(), inputs.begin() + 6}};
  expect_near(vanilla_gradient(*model, input, 0).values, {0, 2, 4, 6, 8, 10}, 0);
  // The gradient is the same on the whole path: weight times difference, and their sum is f(input) -
  // f(start).
  const std::vector<float> start{0, 1, 1, 1, 1, 1};
  expect_near(integrated_gradients(*model, input, start, 0, 3).values, {0, 6, 8, 6, 32, 20}, 1e-5);
  // GradCAM behind the convolution: activation 2x, mean gradient of output 0 there is 2.5, then ReLU.
  expect_near(model->grad_cam(input.values, 0, "").values, {5, 0, 15, 0, 25, 0}, 1e-5);
}

TEST(Gradients, AgreeWithCaptum) {
  const auto model = small();
  EXPECT_EQ(model->layers(), (std::vector<std::string>{"first.0", "first.1", "second.0"}));
  const auto answers = nlohmann::json::parse(fixture("small.json"));
  const ModelInput input{2, 8, 8, true, answers.at("input").get<std::vector<float>>()};
  const auto start = answers.at("fill").get<std::vector<float>>();
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& expected = answers.at("outputs").at(k);
    std::vector<double> largest(64), total(64);
    const auto saliency = expected.at("saliency").get<std::vector<double>>();
    const auto integrated = expected.at("integrated").get<std::vector<double>>();
    for (std::size_t i = 0; i < 64; ++i) {
      largest[i] = std::max(saliency[i], saliency[64 + i]);
      total[i] = std::abs(integrated[i] + integrated[64 + i]);
    }
    expect_near(vanilla_gradient(*model, input, k).values, largest, 1e-6);
    expect_near(integrated_gradients(*model, input, start, k, 16).values, total, 1e-6);
    expect_near(model->grad_cam(input.values, k, "").values,
                expected.at("grad_cam").get<std::vector<double>>(), 1e-6);
    expect_near(model->grad_cam(input.values, k, "second.0").values,
                expected.at("grad_cam").get<std::vector<double>>(), 1e-6);
    expect_near(model->grad_cam(input.values, k, "first.0").values,
                expected.at("grad_cam_first").get<std::vector<double>>(), 1e-6);
  }
}

TEST(Gradients, NameWhatDoesNotFit) {
  const auto model = small();
  const std::vector<float> input(128, 0.0f);
  EXPECT_THROW(model->grad_cam(input, 0, "third"), Error);
  EXPECT_THROW(model->grad_cam(input, 3, ""), Error);
  EXPECT_THROW(open_gradient_model("no model", "x.pt", {1, 2, 3}), Error);
  EXPECT_THROW(open_gradient_model(fixture("small.pt"), "small.pt", {1, 8, 8}), Error);
}

TEST(Maps, EnlargeIsBilinearBetweenCentres) {
  // Worked by hand; torch.nn.functional.interpolate(align_corners=False) gives the same.
  expect_near(enlarge({1, 2, {0, 4}}, 1, 4).values, {0, 1, 3, 4}, 1e-15);
  expect_near(enlarge({2, 1, {2, 6}}, 3, 1).values, {2, 4, 6}, 1e-15);
  expect_near(enlarge({2, 2, {1, 2, 3, 5}}, 2, 2).values, {1, 2, 3, 5}, 0);
}

TEST(Maps, SmoothKeepsTheMean) {
  SaliencyMap map{21, 21, std::vector<double>(441, 0.0)};
  map.values[220] = 1e-9;
  const SaliencyMap found = smooth(map, 2);
  double sum = 0;
  for (double value : found.values) sum += value;
  EXPECT_NEAR(sum, 1e-9, 1e-14);
  EXPECT_NEAR(found.at(10, 12) / found.at(10, 10), std::exp(-0.5), 1e-5);
}

// An answer that is linear in visibility has the weights as its covariance, up to those of neighbours in a
// cell.
TEST(Maps, RiseFindsTheRegionThatTheAnswerFollows) {
  const MaskScore score = [](std::span<const float> masks, std::size_t count) {
    std::vector<double> answers;
    for (std::size_t k = 0; k < count; ++k) {
      double visible = 0;
      for (std::size_t y = 12; y < 18; ++y)
        for (std::size_t x = 6; x < 12; ++x) visible += static_cast<double>(masks[k * 784 + y * 28 + x]) / 36;
      answers.push_back(visible);
    }
    return answers;
  };
  const SaliencyMap map = rise(score, 28, 28, {.masks = 1500, .seed = 1});
  const std::vector<Box> box{{6, 12, 6, 6}};
  EXPECT_EQ(pointing_game(map, box), 1);
  double inside = 0, outside = 0;
  const PixelMask mask = mask_of_boxes(28, 28, box);
  for (std::size_t i = 0; i < 784; ++i) (mask[i] ? inside : outside) += map.values[i] / (mask[i] ? 36 : 748);
  EXPECT_GT(inside, 0.1);
  EXPECT_LT(std::abs(outside), 0.02);
  EXPECT_EQ(rise(score, 28, 28, {.masks = 150, .seed = 1}).values,
            rise(score, 28, 28, {.masks = 150, .seed = 1}).values);
}

TEST(Maps, RandomMapsDifferFromImageToImage) {
  EXPECT_EQ(random_map(14, 14, 7, 1, 3).values, random_map(14, 14, 7, 1, 3).values);
  EXPECT_NE(random_map(14, 14, 7, 1, 3).values, random_map(14, 14, 7, 1, 4).values);
}

}  // namespace
}  // namespace hifi
