#include "data/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hifi {

std::string npy_bytes(std::span<const float> values, const std::vector<std::size_t>& shape) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", fmt::join(shape, ", "));
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlign = 64;
  header.append(kAlign - (kPrefix + header.size() + 1) % kAlign, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

}  // namespace hifi
