#include "masking/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/random.h"
#include "data/resample.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr double kNoise = .08;  // of the pixel range

// Wide enough to remove what a patch shows, narrow enough to keep where bright and dark are: 9 pixels of 84.
double blur_sigma(std::size_t height, std::size_t width) {
  return 9.0 / 84 * static_cast<double>(std::min(height, width));
}

Planes plain(const Planes& like, const std::vector<double>& values) {
  Planes result = like;
  for (std::size_t c = 0; c < like.channels; ++c) {
    std::fill_n(result.values.begin() + static_cast<std::ptrdiff_t>(c * like.pixels()), like.pixels(),
                static_cast<float>(values[c]));
  }
  return result;
}

}  // namespace

Fill Fill::parse(const std::string& text) {
  if (text == "mean") return {.kind = Kind::mean};
  if (text == "data-mean") return {.kind = Kind::data_mean};
  if (text == "blur") return {.kind = Kind::blur};
  if (text == "noise") return {.kind = Kind::noise};
  if (text.starts_with("images:") && text.size() > 7) return {.kind = Kind::images, .folder = text.substr(7)};
  if (text.starts_with("constant:")) {
    Fill fill{.kind = Kind::constant};
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + 9, end, fill.value);
    if (error == std::errc() && rest == end && fill.value >= 0 && fill.value <= 1) return fill;
    throw Error(ErrorCode::usage,
                fmt::format("--fill {}: the constant must lie in 0..1 of the pixel range", text));
  }
  throw Error(ErrorCode::usage,
              fmt::format("--fill {}: must be mean, data-mean, blur, noise, constant:V or images:DIR", text));
}

Fills::Fills(Fill fill, std::uint64_t seed, std::vector<Planes> others, std::vector<double> data_mean)
    : fill_(std::move(fill)), seed_(seed), others_(std::move(others)), data_mean_(std::move(data_mean)) {}

std::string Fills::description(std::size_t height, std::size_t width) const {
  switch (fill_.kind) {
    case Fill::Kind::mean:
      return "the image's own mean colour";
    case Fill::Kind::data_mean:
      return "the mean colour of all images";
    case Fill::Kind::blur:
      return fmt::format("the image blurred by {:.1f} pixels", blur_sigma(height, width));
    case Fill::Kind::noise:
      return fmt::format("the image blurred by {:.1f} pixels, with noise of {} of the pixel range",
                         blur_sigma(height, width), kNoise);
    case Fill::Kind::constant:
      return fmt::format("{} of the pixel range", fill_.value);
    case Fill::Kind::images:
      return fmt::format("{} images of {}, among which an image may meet itself", others_.size(),
                         fill_.folder);
  }
  return "";
}

std::size_t Fills::most_draws() const {
  if (fill_.kind == Fill::Kind::images) return others_.size();
  return fill_.kind == Fill::Kind::noise ? SIZE_MAX : 1;
}

Planes Fills::make(const Planes& image, std::uint64_t key, std::size_t draw) const {
  switch (fill_.kind) {
    case Fill::Kind::mean:
      return plain(image, channel_means(image));
    case Fill::Kind::data_mean:
      return plain(image, data_mean_);
    case Fill::Kind::constant:
      return plain(image, std::vector(image.channels, fill_.value));
    case Fill::Kind::images: {
      // Image by image another stretch of one seeded order.
      const auto order = RandomStream(seed_, Purpose::image_fills).permutation(others_.size());
      const std::uint64_t first = RandomStream(seed_, Purpose::image_fills, key | 1).below(others_.size());
      return others_[order[(first + draw) % others_.size()]];
    }
    case Fill::Kind::blur:
    case Fill::Kind::noise:
      break;
  }
  Planes result = image;
  blur(result, blur_sigma(image.height, image.width));
  if (fill_.kind == Fill::Kind::blur) return result;
  RandomStream noise(seed_, Purpose::image_noise, key + draw);
  for (float& value : result.values)
    value = std::clamp(value + static_cast<float>(kNoise * noise.normal()), 0.0F, 1.0F);
  return result;
}

std::vector<double> channel_means(const Planes& image) {
  std::vector<double> means;
  for (std::size_t c = 0; c < image.channels; ++c) {
    double sum = 0;
    for (std::size_t p = 0; p < image.pixels(); ++p)
      sum += static_cast<double>(image.values[c * image.pixels() + p]);
    means.push_back(sum / static_cast<double>(image.pixels()));
  }
  return means;
}

}  // namespace hifi
