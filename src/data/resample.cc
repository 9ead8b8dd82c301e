#include "data/resample.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hifi {

namespace {

using Line = std::vector<double>;

// Applies `filter(in, out)` to every row, or every column, of every channel.
template <class Filter>
Planes along_rows(const Planes& image, std::size_t width, Filter filter) {
  Planes result{image.channels, image.height, width,
                std::vector<float>(image.channels * image.height * width)};
  Line in(image.width), out(width);
  for (std::size_t row = 0; row < image.channels * image.height; ++row) {
    std::copy_n(image.values.begin() + static_cast<std::ptrdiff_t>(row * image.width), image.width,
                in.begin());
    filter(in, out);
    std::transform(out.begin(), out.end(), result.values.begin() + static_cast<std::ptrdiff_t>(row * width),
                   [](double v) { return static_cast<float>(v); });
  }
  return result;
}

template <class Filter>
Planes along_columns(const Planes& image, std::size_t height, Filter filter) {
  const std::size_t w = image.width;
  Planes result{image.channels, height, w, std::vector<float>(image.channels * height * w)};
  Line in(image.height), out(height);
  for (std::size_t c = 0; c < image.channels; ++c) {
    for (std::size_t x = 0; x < w; ++x) {
      for (std::size_t y = 0; y < image.height; ++y) in[y] = image.values[(c * image.height + y) * w + x];
      filter(in, out);
      for (std::size_t y = 0; y < height; ++y)
        result.values[(c * height + y) * w + x] = static_cast<float>(out[y]);
    }
  }
  return result;
}

// The weights of one output pixel of PIL's triangle filter, widened by the factor when shrinking.
struct Taps {
  std::size_t first = 0;
  std::vector<double> weights;
};

std::vector<Taps> triangle_taps(std::size_t in, std::size_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double widened = std::max(scale, 1.0);
  std::vector<Taps> taps(out);
  for (std::size_t k = 0; k < out; ++k) {
    const double centre = (static_cast<double>(k) + .5) * scale;
    const auto bound = [&](double at) {
      return static_cast<std::size_t>(std::clamp(std::trunc(at + .5), 0.0, static_cast<double>(in)));
    };
    taps[k].first = bound(centre - widened);
    const std::size_t end = bound(centre + widened);
    double sum = 0;
    for (std::size_t i = taps[k].first; i < end; ++i) {
      const double distance = std::abs((static_cast<double>(i) - centre + .5) * (1 / widened));
      taps[k].weights.push_back(distance < 1 ? 1 - distance : 0);
      sum += taps[k].weights.back();
    }
    for (double& w : taps[k].weights) w *= 1 / sum;
  }
  return taps;
}

// 8 bits go through PIL in fixed point.
constexpr int kBits = 22;

auto pillow_filter(std::size_t in, std::size_t out, std::uint32_t max) {
  std::vector<Taps> taps = triangle_taps(in, out);
  return [taps = std::move(taps), max](const Line& line, Line& result) {
    for (std::size_t k = 0; k < result.size(); ++k) {
      const Taps& t = taps[k];
      if (max != 255) {
        double sum = 0;
        for (std::size_t i = 0; i < t.weights.size(); ++i) sum += line[t.first + i] * t.weights[i];
        result[k] = sum;
        continue;
      }
      std::int64_t sum = std::int64_t{1} << (kBits - 1);
      for (std::size_t i = 0; i < t.weights.size(); ++i) {
        const auto weight = static_cast<std::int64_t>(.5 + t.weights[i] * (1 << kBits));
        sum += std::lround(line[t.first + i] * 255) * weight;
      }
      const std::int64_t level = std::clamp<std::int64_t>(sum >> kBits, 0, 255);
      result[k] = static_cast<double>(static_cast<float>(level) / 255.0F);
    }
  };
}

Line gaussian_kernel(double sigma) {
  const auto radius = static_cast<std::size_t>(4 * sigma + .5);
  Line kernel(2 * radius + 1);
  double sum = 0;
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const double x = static_cast<double>(k) - static_cast<double>(radius);
    sum += kernel[k] = std::exp(-.5 * x * x / (sigma * sigma));
  }
  for (double& w : kernel) w /= sum;
  return kernel;
}

// `outside`: NaN continues the edge.
auto gaussian_filter(double sigma, double outside) {
  return [kernel = gaussian_kernel(sigma), outside](const Line& line, Line& result) {
    const auto radius = static_cast<std::ptrdiff_t>(kernel.size() / 2);
    const auto size = static_cast<std::ptrdiff_t>(line.size());
    // A padded copy keeps the inner loop free of questions.
    Line padded(line.size() + kernel.size() - 1);
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(padded.size()); ++k) {
      const std::ptrdiff_t at = k - radius;
      const bool within = at >= 0 && at < size;
      const auto near = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, size - 1));
      padded[static_cast<std::size_t>(k)] = within || std::isnan(outside) ? line[near] : outside;
    }
    for (std::size_t k = 0; k < result.size(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < kernel.size(); ++i) sum += kernel[i] * padded[k + i];
      result[k] = sum;
    }
  };
}

auto linear_filter(std::size_t in, std::size_t out, double outside) {
  const double factor = static_cast<double>(in) / static_cast<double>(out);
  return [factor, outside](const Line& line, Line& result) {
    const auto at = [&](double position) {
      return position < 0 || position >= static_cast<double>(line.size())
                 ? outside
                 : line[static_cast<std::size_t>(position)];
    };
    for (std::size_t k = 0; k < result.size(); ++k) {
      const double position = (static_cast<double>(k) + .5) * factor - .5;
      const double below = std::floor(position);
      const double share = position - below;
      result[k] = (1 - share) * at(below) + (share > 0 ? share * at(below + 1) : 0);
    }
  };
}

double shrink_sigma(std::size_t in, std::size_t out) {
  return std::max(0.0, (static_cast<double>(in) / static_cast<double>(out) - 1) / 2);
}

}  // namespace

Planes to_planes(const Image& image) {
  Planes result{image.channels, image.height, image.width, std::vector<float>(image.values.size())};
  for (std::size_t p = 0; p < image.pixels(); ++p) {
    for (std::size_t c = 0; c < image.channels; ++c) {
      result.values[c * image.pixels() + p] =
          static_cast<float>(image.values[p * image.channels + c]) / static_cast<float>(image.max);
    }
  }
  return result;
}

Planes crop(const Planes& image, std::size_t top, std::size_t left, std::size_t height, std::size_t width) {
  Planes result{image.channels, height, width, {}};
  result.values.reserve(image.channels * height * width);
  for (std::size_t c = 0; c < image.channels; ++c) {
    for (std::size_t y = 0; y < height; ++y) {
      const auto begin = image.values.begin() +
                         static_cast<std::ptrdiff_t>((c * image.height + top + y) * image.width + left);
      result.values.insert(result.values.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  }
  return result;
}

Planes resize(const Planes& image, std::size_t height, std::size_t width, Interpolation interpolation,
              std::uint32_t max, double outside) {
  Planes result = image;
  if (interpolation == Interpolation::pillow) {
    if (width != image.width) result = along_rows(result, width, pillow_filter(image.width, width, max));
    if (height != image.height)
      result = along_columns(result, height, pillow_filter(image.height, height, max));
    return result;
  }
  const double down = shrink_sigma(image.height, height);
  const double across = shrink_sigma(image.width, width);
  if (down > 0) result = along_columns(result, image.height, gaussian_filter(down, outside));
  if (across > 0) result = along_rows(result, image.width, gaussian_filter(across, outside));
  if (height != image.height)
    result = along_columns(result, height, linear_filter(image.height, height, outside));
  if (width != image.width) result = along_rows(result, width, linear_filter(image.width, width, outside));
  return result;
}

void blur(Planes& image, double sigma) {
  const double edge = std::nan("");
  image = along_columns(image, image.height, gaussian_filter(sigma, edge));
  image = along_rows(image, image.width, gaussian_filter(sigma, edge));
}

}  // namespace hifi
