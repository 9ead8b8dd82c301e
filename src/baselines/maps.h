// The maps that ours is compared with. All are in pixels of the fitted image, larger = more important.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "baselines/gradients.h"
#include "baselines/metrics.h"

namespace hifi {

// Bilinear between the centres of the cells, constant beyond the outermost ones (torch's align_corners =
// false).
SaliencyMap enlarge(const SaliencyMap& map, std::size_t height, std::size_t width);

// A Gaussian filter, edges continued.
SaliencyMap smooth(const SaliencyMap& map, double sigma);

// An input of a model, channel by channel or with the channels of a pixel side by side.
struct ModelInput {
  std::size_t channels = 1, height = 0, width = 0;
  bool channels_first = true;
  std::vector<float> values;
};

// |d output / d pixel|, the largest over channels.
SaliencyMap vanilla_gradient(GradientModel& model, const ModelInput& input, std::size_t output);

// |(input - start) x mean gradient between them|, summed over channels before the absolute value; the mean is
// that of the midpoints of `steps` equal steps (doi 10.5555/3305890.3306024). `start` is the fill.
SaliencyMap integrated_gradients(GradientModel& model, const ModelInput& input, std::span<const float> start,
                                 std::size_t output, std::size_t steps = 32);

// GradCAM of the layer, enlarged to the image.
SaliencyMap grad_cam(GradientModel& model, const ModelInput& input, std::size_t output,
                     const std::string& layer);

// The model's answer (a probability) for each of `count` masks, count x pixels of shares of the image in
// 0..1.
using MaskScore = std::function<std::vector<double>(std::span<const float> masks, std::size_t count)>;

struct RiseOptions {
  std::size_t masks = 1000;
  std::size_t cells = 7;  // of a mask, a side
  double visible = 0.5;   // chance of a cell
  std::uint64_t seed = 0;
  std::uint64_t image = 0;  // which image: masks differ from image to image
};

// RISE (arXiv 1806.07421): random coarse masks, enlarged and shifted; a pixel's value is the covariance of
// the answer and its visibility, over its mean visibility.
SaliencyMap rise(const MaskScore& score, std::size_t height, std::size_t width, const RiseOptions& options);

// A number of its own for each cell of a grid, enlarged: what a map without any knowledge earns.
SaliencyMap random_map(std::size_t height, std::size_t width, std::size_t cells, std::uint64_t seed,
                       std::uint64_t image);

}  // namespace hifi
