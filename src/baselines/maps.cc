#include "baselines/maps.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "data/resample.h"

namespace hifi {
namespace {

struct Between {
  std::size_t low = 0, high = 0;
  double part = 0;  // of high
};

std::vector<Between> positions(std::size_t from, std::size_t to) {
  std::vector<Between> result(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double place = std::max((static_cast<double>(i) + 0.5) * scale - 0.5, 0.0);
    const auto low = std::min(static_cast<std::size_t>(place), from - 1);
    const std::size_t high = std::min(low + 1, from - 1);
    result[i] = {low, high, place - static_cast<double>(low)};
  }
  return result;
}

// Value of (channel, pixel) in the layout of the input.
std::size_t place_of(const ModelInput& input, std::size_t channel, std::size_t pixel) {
  return input.channels_first ? channel * input.height * input.width + pixel
                              : pixel * input.channels + channel;
}

}  // namespace

SaliencyMap enlarge(const SaliencyMap& map, std::size_t height, std::size_t width) {
  SaliencyMap result{height, width, std::vector<double>(height * width)};
  const auto rows = positions(map.height, height), columns = positions(map.width, width);
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const Between &r = rows[y], &c = columns[x];
      const double top = map.at(r.low, c.low) * (1 - c.part) + map.at(r.low, c.high) * c.part;
      const double bottom = map.at(r.high, c.low) * (1 - c.part) + map.at(r.high, c.high) * c.part;
      result.values[y * width + x] = top * (1 - r.part) + bottom * r.part;
    }
  return result;
}

SaliencyMap smooth(const SaliencyMap& map, double sigma) {
  // Maps may be tiny numbers; the filter works in single precision.
  double largest = 0;
  for (double value : map.values) largest = std::max(largest, std::abs(value));
  if (largest == 0) return map;
  Planes planes{1, map.height, map.width, {}};
  for (double value : map.values) planes.values.push_back(static_cast<float>(value / largest));
  blur(planes, sigma);
  SaliencyMap result{map.height, map.width, {}};
  for (float value : planes.values) result.values.push_back(largest * static_cast<double>(value));
  return result;
}

SaliencyMap vanilla_gradient(GradientModel& model, const ModelInput& input, std::size_t output) {
  std::vector<float> gradient(input.values.size());
  model.gradients(input.values, 1, output, gradient);
  SaliencyMap map{input.height, input.width, std::vector<double>(input.height * input.width, 0.0)};
  for (std::size_t pixel = 0; pixel < map.values.size(); ++pixel)
    for (std::size_t c = 0; c < input.channels; ++c)
      map.values[pixel] =
          std::max(map.values[pixel], std::abs(static_cast<double>(gradient[place_of(input, c, pixel)])));
  return map;
}

SaliencyMap integrated_gradients(GradientModel& model, const ModelInput& input, std::span<const float> start,
                                 std::size_t output, std::size_t steps) {
  const std::size_t size = input.values.size();
  std::vector<double> sum(size, 0.0);
  std::vector<float> point(size), gradient(size);
  for (std::size_t step = 0; step < steps; ++step) {
    const float part = (static_cast<float>(step) + 0.5f) / static_cast<float>(steps);
    for (std::size_t i = 0; i < size; ++i) point[i] = start[i] + part * (input.values[i] - start[i]);
    model.gradients(point, 1, output, gradient);
    for (std::size_t i = 0; i < size; ++i) sum[i] += static_cast<double>(gradient[i]);
  }
  SaliencyMap map{input.height, input.width, std::vector<double>(input.height * input.width, 0.0)};
  for (std::size_t pixel = 0; pixel < map.values.size(); ++pixel) {
    for (std::size_t c = 0; c < input.channels; ++c) {
      const std::size_t i = place_of(input, c, pixel);
      map.values[pixel] += (static_cast<double>(input.values[i]) - static_cast<double>(start[i])) * sum[i] /
                           static_cast<double>(steps);
    }
    map.values[pixel] = std::abs(map.values[pixel]);
  }
  return map;
}

SaliencyMap grad_cam(GradientModel& model, const ModelInput& input, std::size_t output,
                     const std::string& layer) {
  return enlarge(model.grad_cam(input.values, output, layer), input.height, input.width);
}

SaliencyMap rise(const MaskScore& score, std::size_t height, std::size_t width, const RiseOptions& options) {
  const std::size_t pixels = height * width, cells = options.cells;
  // One cell more than needed, so that a mask can be shifted by up to a cell.
  const std::size_t cell_height = height / cells + 1, cell_width = width / cells + 1;
  std::vector<double> weighted(pixels, 0.0), visible(pixels, 0.0);
  double total = 0;
  constexpr std::size_t kBatch = 100;
  for (std::size_t first = 0; first < options.masks; first += kBatch) {
    const std::size_t count = std::min(kBatch, options.masks - first);
    std::vector<float> masks(count * pixels);
    for (std::size_t k = 0; k < count; ++k) {
      RandomStream random(options.seed, Purpose::rise_masks, (options.image << 32) + first + k);
      SaliencyMap coarse{cells + 1, cells + 1, std::vector<double>((cells + 1) * (cells + 1))};
      for (double& cell : coarse.values) cell = random.uniform() < options.visible ? 1 : 0;
      const std::size_t down = random.below(cell_height), across = random.below(cell_width);
      const SaliencyMap mask = enlarge(coarse, (cells + 1) * cell_height, (cells + 1) * cell_width);
      for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x)
          masks[k * pixels + y * width + x] = static_cast<float>(mask.at(y + down, x + across));
    }
    const std::vector<double> answers = score(masks, count);
    for (std::size_t k = 0; k < count; ++k) {
      total += answers[k];
      for (std::size_t i = 0; i < pixels; ++i) {
        weighted[i] += answers[k] * static_cast<double>(masks[k * pixels + i]);
        visible[i] += static_cast<double>(masks[k * pixels + i]);
      }
    }
  }
  SaliencyMap map{height, width, std::vector<double>(pixels)};
  const double mean = total / static_cast<double>(options.masks);
  for (std::size_t i = 0; i < pixels; ++i)
    map.values[i] = visible[i] > 0 ? weighted[i] / visible[i] - mean : 0;
  return map;
}

SaliencyMap random_map(std::size_t height, std::size_t width, std::size_t cells, std::uint64_t seed,
                       std::uint64_t image) {
  RandomStream random(seed, Purpose::random_map, image);
  SaliencyMap coarse{cells, cells, std::vector<double>(cells * cells)};
  for (double& cell : coarse.values) cell = random.uniform();
  return enlarge(coarse, height, width);
}

}  // namespace hifi
