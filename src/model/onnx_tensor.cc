// The elements of tensors, which a file has in one of many ways.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "hifi/error.h"
#include "model/onnx_document.h"

namespace hifi::onnx {

namespace {

static_assert(std::endian::native == std::endian::little);

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// 0: no number that we read.
std::size_t element_bytes(Element type) {
  switch (type) {
    case Element::uint8:
    case Element::int8:
    case Element::boolean:
      return 1;
    case Element::uint16:
    case Element::int16:
    case Element::float16:
      return 2;
    case Element::float32:
    case Element::int32:
    case Element::uint32:
      return 4;
    case Element::float64:
    case Element::int64:
    case Element::uint64:
      return 8;
    default:
      return 0;
  }
}

template <class T>
void append_raw(std::string_view raw, std::vector<double>& out) {
  for (std::size_t at = 0; at < raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof(T));
    out.push_back(static_cast<double>(value));
  }
}

std::vector<double> raw_numbers(Element type, std::string_view raw) {
  std::vector<double> out;
  out.reserve(raw.size() / element_bytes(type));
  switch (type) {
    case Element::float32:
      append_raw<float>(raw, out);
      break;
    case Element::float64:
      append_raw<double>(raw, out);
      break;
    case Element::int64:
      append_raw<std::int64_t>(raw, out);
      break;
    case Element::uint64:
      append_raw<std::uint64_t>(raw, out);
      break;
    case Element::int32:
      append_raw<std::int32_t>(raw, out);
      break;
    case Element::uint32:
      append_raw<std::uint32_t>(raw, out);
      break;
    case Element::int16:
      append_raw<std::int16_t>(raw, out);
      break;
    case Element::uint16:
      append_raw<std::uint16_t>(raw, out);
      break;
    case Element::int8:
      append_raw<std::int8_t>(raw, out);
      break;
    case Element::float16: {
      append_raw<std::uint16_t>(raw, out);
      for (double& value : out) value = half_to_double(static_cast<std::uint16_t>(value));
      break;
    }
    default:
      append_raw<std::uint8_t>(raw, out);
      break;
  }
  return out;
}

std::string tensor_name(const Tensor& tensor, const std::string& where) {
  return tensor.name.empty() ? where : fmt::format("{}: tensor \"{}\"", where, shown(tensor.name));
}

void check_local(const Tensor& tensor, const std::string& where) {
  if (!tensor.external) return;
  throw input_error(fmt::format("{}: has its elements in another file", tensor_name(tensor, where)),
                    "save the model with its data in one file");
}

}  // namespace

std::size_t tensor_size(const Tensor& tensor, const std::string& where) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  std::uint64_t size = 1;
  for (const std::int64_t length : tensor.shape) {
    if (length < 0) throw input_error(fmt::format("{}: its shape is negative", tensor_name(tensor, where)));
    const auto factor = static_cast<std::uint64_t>(length);
    if (factor != 0 && size > kMost / factor) {
      throw input_error(fmt::format("{}: is too large", tensor_name(tensor, where)));
    }
    size *= factor;
  }
  return size;
}

std::vector<double> tensor_numbers(const Tensor& tensor, const std::string& where) {
  check_local(tensor, where);
  const std::size_t bytes = element_bytes(tensor.type);
  if (bytes == 0) {
    throw input_error(fmt::format("{}: its element type {} is no number that is supported",
                                  tensor_name(tensor, where), static_cast<int>(tensor.type)));
  }
  const std::size_t size = tensor_size(tensor, where);
  if (tensor.raw.size() % bytes != 0) {
    throw input_error(fmt::format("{}: ends within an element", tensor_name(tensor, where)));
  }
  std::vector<double> numbers = tensor.values;
  if (!tensor.raw.empty()) {
    numbers = raw_numbers(tensor.type, tensor.raw);
  } else if (tensor.type == Element::float16) {  // int32_data holds their bits
    for (double& value : numbers) {
      value = half_to_double(value >= 0 && value < 65536 ? static_cast<std::uint16_t>(value) : 0x7e00);
    }
  }
  if (numbers.size() != size) {
    throw input_error(fmt::format("{}: has {} elements, but its shape says {}", tensor_name(tensor, where),
                                  numbers.size(), size));
  }
  return numbers;
}

const std::vector<std::string>& tensor_texts(const Tensor& tensor, const std::string& where) {
  check_local(tensor, where);
  if (tensor.type != Element::text || tensor.texts.size() != tensor_size(tensor, where)) {
    throw input_error(
        fmt::format("{}: is no list of texts of the length that its shape says", tensor_name(tensor, where)));
  }
  return tensor.texts;
}

}  // namespace hifi::onnx
