// How an image becomes the input of a model: fitted to a size, then pixels mapped to numbers.
//
// The two steps are apart because patches are masked and filled between them, in pixel space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/image.h"
#include "data/resample.h"

namespace hifi {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct Recipe {
  enum class Fit { resize, center_crop };

  std::string name;  // as asked for
  std::size_t height = 0;
  std::size_t width = 0;
  Fit fit = Fit::resize;
  // Of center-crop: 0 crops the largest centred window of the wanted shape, then resizes (torchxrayvision);
  // else the shorter side is first resized to this and the window is cut from the middle (torchvision).
  std::size_t short_side = 0;
  Interpolation interpolation = Interpolation::pillow;
  std::size_t channels = 3;  // 1: grey, by the luma of PIL where the file has colours
  double low = 0;            // black
  double high = 1;           // white
  std::vector<double> mean;  // one per channel
  std::vector<double> deviation;
  bool channels_first = true;

  // `xrv`, `imagenet` or a JSON file. Throws Error(input) naming the field.
  static Recipe open(const std::string& name);
  static Recipe parse(const std::string& json, const std::string& place);
  // For models that say their input: resize to it, numbers in 0..1. Throws Error(input) if the shape is none
  // of an image; `model` is for messages.
  static Recipe of_shape(const std::vector<std::size_t>& shape, const std::string& model);

  std::string to_json() const;
  std::vector<std::size_t> shape() const;  // of the model's input, without the batch
  std::size_t pixels() const { return height * width; }

  // Fitted, in 0..1.
  Planes fit_image(const Image& image) const;
  // A box of the file in pixels of the fitted image; it may reach beyond it.
  Box fit_box(const Box& box, std::size_t image_height, std::size_t image_width) const;
  // What the model gets, in the layout of the recipe. In single precision, as torchvision computes it.
  std::vector<float> normalise(const Planes& fitted) const;
};

}  // namespace hifi
