#include "report/overlay.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hifi {

namespace {

constexpr std::size_t kLeastSide = 448;
constexpr double kStrongest = .75;  // of the colour, so that the image is seen below it

using Colour = std::array<double, 3>;
constexpr Colour kRed{.86, .13, .12};
constexpr Colour kBlue{.10, .35, .85};

std::uint16_t level(double value) {
  return static_cast<std::uint16_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

void frame(Image& picture, const Box& box, double scale) {
  const auto place = [&](double at, std::size_t size) {
    return static_cast<std::size_t>(std::clamp(std::floor(at * scale), 0.0, static_cast<double>(size - 1)));
  };
  const std::size_t top = place(box.y, picture.height), bottom = place(box.y + box.height, picture.height);
  const std::size_t left = place(box.x, picture.width), right = place(box.x + box.width, picture.width);
  const auto mark = [&](std::size_t y, std::size_t x) {
    std::uint16_t* pixel = &picture.values[3 * (y * picture.width + x)];
    pixel[0] = pixel[1] = 255;
    pixel[2] = 0;
  };
  // Two pixels wide, inwards.
  const std::size_t top2 = std::min(top + 1, bottom), bottom2 = std::max(bottom, top + 1) - 1;
  const std::size_t left2 = std::min(left + 1, right), right2 = std::max(right, left + 1) - 1;
  for (std::size_t x = left; x <= right; ++x) mark(top, x), mark(top2, x), mark(bottom2, x), mark(bottom, x);
  for (std::size_t y = top; y <= bottom; ++y) mark(y, left), mark(y, left2), mark(y, right2), mark(y, right);
}

}  // namespace

Image overlay(const Planes& image, std::span<const float> map, const std::vector<Box>& boxes) {
  const std::size_t side = std::max<std::size_t>(1, std::min(image.height, image.width));
  const std::size_t scale = (kLeastSide + side - 1) / side;
  Image picture{image.height * scale, image.width * scale, 3, 255, {}};
  float most = 0;
  for (const float value : map) most = std::max(most, std::abs(value));
  picture.values.reserve(picture.pixels() * 3);
  for (std::size_t y = 0; y < picture.height; ++y) {
    for (std::size_t x = 0; x < picture.width; ++x) {
      const std::size_t p = y / scale * image.width + x / scale;
      double grey = 0;
      for (std::size_t c = 0; c < image.channels; ++c)
        grey +=
            static_cast<double>(image.values[c * image.pixels() + p]) / static_cast<double>(image.channels);
      const double strength = most > 0 ? kStrongest * static_cast<double>(std::abs(map[p]) / most) : 0;
      const Colour& colour = map[p] >= 0 ? kRed : kBlue;
      for (std::size_t c = 0; c < 3; ++c)
        picture.values.push_back(level((1 - strength) * grey + strength * colour[c]));
    }
  }
  for (const Box& box : boxes) frame(picture, box, static_cast<double>(scale));
  return picture;
}

}  // namespace hifi
