// What the pixels of absent patches show. Always in pixel space, before the numbers of the recipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/image.h"

namespace hifi {

struct Fill {
  // mean: the image's own, per channel; data_mean: that of all images.
  enum class Kind { mean, data_mean, blur, noise, constant, images };
  Kind kind = Kind::blur;
  double value = 0;    // of constant, in 0..1
  std::string folder;  // of images

  // "mean", "data-mean", "blur", "noise", "constant:0.5", "images:DIR". Throws Error(usage).
  static Fill parse(const std::string& text);
  // True if a fill is one of many that could be drawn.
  bool is_random() const { return kind == Kind::noise || kind == Kind::images; }
};

// Fills of one size. `others` are the fitted images of kind images; `data_mean` has one number per channel.
class Fills {
 public:
  Fills(Fill fill, std::uint64_t seed, std::vector<Planes> others, std::vector<double> data_mean);

  // For people: what it is, with its parameters for images of this size.
  std::string description(std::size_t height, std::size_t width) const;
  // Draws that exist: 1, the number of other images, or no end of noise.
  std::size_t most_draws() const;
  // `key` names the image, so that it meets the same fills in any company.
  Planes make(const Planes& image, std::uint64_t key, std::size_t draw) const;

 private:
  Fill fill_;
  std::uint64_t seed_;
  std::vector<Planes> others_;
  std::vector<double> data_mean_;
};

// The mean of each channel.
std::vector<double> channel_means(const Planes& image);

}  // namespace hifi
