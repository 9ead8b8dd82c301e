// Images: files in, files out. Readers are behind the images plug-in, so nothing here knows OpenCV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hifi {

// As it is in a file: rows of pixels, the channels of a pixel side by side, grey or red, green, blue.
struct Image {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 1;           // 1 or 3
  std::uint32_t max = 255;            // white: 255, or 65535 for 16 bits
  std::vector<std::uint16_t> values;  // height x width x channels

  std::size_t pixels() const { return height * width; }
};

// Numbers of an image in 0..1 of the pixel range, channel by channel.
struct Planes {
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<float> values;  // channels x height x width

  std::size_t pixels() const { return height * width; }
};

// PNG or JPEG, 8 or 16 bits, grey or colour; `path` is for messages. Throws Error(input): no image, cut
// short, damaged, without pixels, partly transparent, or more than `max_bytes` in memory (0: no limit).
Image decode_image(const std::string& content, const std::string& path, std::uint64_t max_bytes = 0);
Image read_image(const std::string& path, std::uint64_t max_bytes = 0);

// The bytes of a PNG file.
std::string encode_png(const Image& image);

}  // namespace hifi
