#include "data/image.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <string_view>

#include "core/files.h"
#include "core/plugin.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr const char* kPackage = "the Debian package libopencv-imgcodecs406";

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < count; ++k) value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
  return value;
}

struct Size {
  std::uint64_t height = 0;
  std::uint64_t width = 0;
};

// Decoders fill up what is missing of a file that was cut short, some without a word: so its end is looked
// for.
Size png_size(std::string_view content, const std::string& path) {
  constexpr std::size_t kHeader = 8;
  const auto cut = [&] { return input_error(fmt::format("{}: the PNG file is cut short", path)); };
  if (content.size() < kHeader + 25) throw cut();
  const Size size{big_endian(content, kHeader + 12, 4), big_endian(content, kHeader + 8, 4)};
  if (size.height == 0 || size.width == 0) return size;
  for (std::size_t at = kHeader;;) {
    if (at + 12 > content.size()) throw cut();
    const std::uint64_t length = big_endian(content, at, 4);
    if (length > content.size() - at - 12) throw cut();
    boost::crc_32_type sum;
    sum.process_bytes(content.data() + at + 4, length + 4);
    if (sum.checksum() != big_endian(content, at + 8 + length, 4)) {
      throw input_error(fmt::format("{}: the PNG file is damaged", path));
    }
    if (content.substr(at + 4, 4) == "IEND") return size;
    at += 12 + length;
  }
}

Size jpeg_size(std::string_view content, const std::string& path) {
  if (content.rfind("\xff\xd9") == std::string_view::npos) {
    throw input_error(fmt::format("{}: the JPEG file is cut short", path));
  }
  for (std::size_t at = 2; at + 9 < content.size();) {
    if (content[at] != '\xff') break;
    const std::uint32_t marker = big_endian(content, at + 1, 1);
    if (marker == 0xff) {  // filler
      ++at;
      continue;
    }
    const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) return {big_endian(content, at + 5, 2), big_endian(content, at + 7, 2)};
    at += 2 + big_endian(content, at + 2, 2);
  }
  throw input_error(fmt::format("{}: the JPEG file is damaged", path));
}

}  // namespace

Image decode_image(const std::string& content, const std::string& path, std::uint64_t max_bytes) {
  Size size;
  if (content.starts_with("\x89PNG\r\n\x1a\n")) {
    size = png_size(content, path);
  } else if (content.starts_with("\xff\xd8\xff")) {
    size = jpeg_size(content, path);
  } else {
    throw input_error(fmt::format("{}: is neither PNG nor JPEG", path));
  }
  if (size.height == 0 || size.width == 0) {
    throw input_error(fmt::format("{}: the image has no pixels ({} x {})", path, size.width, size.height));
  }
  const std::uint64_t bytes = size.height * size.width * 24;  // decoded, as 16 bits, as numbers
  if (max_bytes != 0 && (size.height > UINT32_MAX / size.width || bytes > max_bytes)) {
    throw input_error(fmt::format("{}: an image of {} x {} pixels needs more than --max-memory allows", path,
                                  size.width, size.height));
  }
  using Decode = void (*)(const std::string&, const std::string&, Image&);
  Image image;
  reinterpret_cast<Decode>(plugin_symbol("images", "hifi_decode_image", kPackage))(content, path, image);
  return image;
}

Image read_image(const std::string& path, std::uint64_t max_bytes) {
  return decode_image(read_file(path), path, max_bytes);
}

std::string encode_png(const Image& image) {
  using Encode = void (*)(const Image&, std::string&);
  std::string content;
  reinterpret_cast<Encode>(plugin_symbol("images", "hifi_encode_png", kPackage))(image, content);
  return content;
}

}  // namespace hifi
