// Resizing as the libraries do through which models saw their images. Not OpenCV's: its bilinear filter
// takes no account of the pixels between (no antialiasing), which changes a shrunk image visibly.
#pragma once

#include <cstddef>

#include "data/image.h"

namespace hifi {

enum class Interpolation {
  // Bilinear with antialiasing of PIL, as torchvision's Resize: 8 bits in 22-bit fixed point, rows before
  // columns, rounded to whole levels after each (the newest PIL goes the other way for some shapes: single
  // pixels differ by a level there); 16 bits in double, not rounded.
  pillow,
  // skimage.transform.resize(order=1, mode="constant"), as torchxrayvision's XRayResizer: a Gaussian of
  // (factor - 1) / 2 pixels when shrinking, then linear.
  skimage,
};

// The numbers of an image in 0..1.
Planes to_planes(const Image& image);

// A window of the image. REQUIRES: it lies within
Planes crop(const Planes& image, std::size_t top, std::size_t left, std::size_t height, std::size_t width);

// `max` is that of the file: PIL rounds 8-bit images to whole levels. `outside` is what skimage takes beyond
// the edge, in 0..1. An image that has the size already is returned as it is.
Planes resize(const Planes& image, std::size_t height, std::size_t width, Interpolation interpolation,
              std::uint32_t max, double outside);

// A Gaussian filter cut at 4 sigma, edges continued; as scipy.ndimage.gaussian_filter(mode="nearest").
void blur(Planes& image, double sigma);

}  // namespace hifi
