// The images plug-in: the one file that sees OpenCV.
//
// Only decoding and encoding: OpenCV's resizing has no antialiasing for bilinear filters, and models are
// trained with other libraries' (data/resample.h).
#include <fmt/format.h>

#include <algorithm>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include "data/image.h"
#include "data/text_column.h"
#include "hifi/error.h"

namespace hifi {
namespace {

Error damaged(const std::string& path) {
  return input_error(fmt::format("{}: the image is damaged and cannot be decoded", path));
}

// OpenCV's order is blue, green, red, alpha.
template <class T>
void take_pixels(const cv::Mat& decoded, const std::string& path, Image& image) {
  const auto stored = static_cast<std::size_t>(decoded.channels());
  image.values.resize(image.pixels() * image.channels);
  auto out = image.values.begin();
  for (int y = 0; y < decoded.rows; ++y) {
    const T* row = decoded.ptr<T>(y);
    for (int x = 0; x < decoded.cols; ++x, row += stored) {
      if (stored == 4 && row[3] != image.max) {
        throw input_error(fmt::format("{}: has transparent pixels", path),
                          "save it without its alpha channel, so that its colours are what the model sees");
      }
      for (std::size_t c = image.channels; c-- > 0;) *out++ = row[c];
    }
  }
}

void decode(const std::string& content, const std::string& path, Image& image) {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  const cv::Mat bytes(1, static_cast<int>(content.size()), CV_8UC1,
                      const_cast<char*>(content.data()));  // it only reads
  // As stored: no rotation by EXIF, as PIL, which most models saw their images through.
  const cv::Mat decoded = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (decoded.empty()) throw damaged(path);
  const int channels = decoded.channels();
  const int depth = decoded.depth();
  if ((channels != 1 && channels != 3 && channels != 4) || (depth != CV_8U && depth != CV_16U)) {
    throw input_error(fmt::format("{}: {} channels of this depth cannot be used", path, channels),
                      "save it as grey or colour with 8 or 16 bits");
  }
  image.height = static_cast<std::size_t>(decoded.rows);
  image.width = static_cast<std::size_t>(decoded.cols);
  image.channels = channels == 1 ? 1 : 3;
  image.max = depth == CV_8U ? 255 : 65535;
  if (depth == CV_8U) {
    take_pixels<std::uint8_t>(decoded, path, image);
  } else {
    take_pixels<std::uint16_t>(decoded, path, image);
  }
}

void encode(const Image& image, std::string& content) {
  const int type = CV_MAKETYPE(image.max == 255 ? CV_8U : CV_16U, static_cast<int>(image.channels));
  cv::Mat pixels(static_cast<int>(image.height), static_cast<int>(image.width), type);
  auto in = image.values.begin();
  for (int y = 0; y < pixels.rows; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) {
      for (std::size_t c = image.channels; c-- > 0;) {
        const std::size_t at = x * image.channels + c;
        if (image.max == 255) {
          pixels.ptr<std::uint8_t>(y)[at] = static_cast<std::uint8_t>(*in++);
        } else {
          pixels.ptr<std::uint16_t>(y)[at] = *in++;
        }
      }
    }
  }
  std::vector<std::uint8_t> bytes;
  cv::imencode(".png", pixels, bytes);
  content.assign(bytes.begin(), bytes.end());
}

}  // namespace
}  // namespace hifi

extern "C" {
void hifi_decode_image(const std::string& content, const std::string& path, hifi::Image& image);
void hifi_decode_image(const std::string& content, const std::string& path, hifi::Image& image) {
  try {
    hifi::decode(content, path, image);
  } catch (const cv::Exception&) {
    throw hifi::damaged(path);
  }
}

void hifi_encode_png(const hifi::Image& image, std::string& content);
void hifi_encode_png(const hifi::Image& image, std::string& content) {
  try {
    hifi::encode(image, content);
  } catch (const cv::Exception& error) {
    throw hifi::Error(hifi::ErrorCode::bug, "a PNG cannot be encoded: " + hifi::one_line(error.err));
  }
}
}
