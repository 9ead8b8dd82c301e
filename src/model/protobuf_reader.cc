#include "model/protobuf_reader.h"

#include <bit>
#include <cstring>

namespace hifi {

namespace {

// Little-endian whatever the machine is.
std::uint64_t fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

float to_float(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

}  // namespace

bool ProtobufReader::fail() {
  broken_ = true;
  rest_ = {};
  return false;
}

bool ProtobufReader::read_varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return fail();
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool ProtobufReader::next() {
  if (rest_.empty()) return false;
  std::uint64_t key = 0;
  if (!read_varint(key)) return false;
  constexpr std::uint64_t kLargestField = (1U << 29) - 1;
  if (key >> 3 == 0 || key >> 3 > kLargestField) return fail();
  field_ = static_cast<std::uint32_t>(key >> 3);
  wire_ = static_cast<Wire>(key & 7);
  number_ = 0;
  bytes_ = {};
  if (wire_ == Wire::varint) return read_varint(number_);
  std::uint64_t length = 0;
  switch (wire_) {
    case Wire::fixed64:
      length = 8;
      break;
    case Wire::fixed32:
      length = 4;
      break;
    case Wire::bytes:
      if (!read_varint(length)) return false;
      break;
    default:
      return fail();  // groups, which nobody writes any more
  }
  if (length > rest_.size()) return fail();
  const std::string_view payload = rest_.substr(0, length);
  rest_.remove_prefix(length);
  if (wire_ == Wire::bytes) {
    bytes_ = payload;
  } else {
    number_ = fixed(payload);
  }
  return true;
}

float ProtobufReader::float32() const { return wire_ == Wire::fixed32 ? to_float(number_) : 0.0f; }

void ProtobufReader::append_varints(std::vector<std::int64_t>& out) {
  if (wire_ == Wire::varint) {
    out.push_back(static_cast<std::int64_t>(number_));
    return;
  }
  ProtobufReader packed(bytes_);
  std::uint64_t value = 0;
  while (!packed.rest_.empty() && packed.read_varint(value)) out.push_back(static_cast<std::int64_t>(value));
  if (packed.broken_) fail();
}

void ProtobufReader::append_floats(std::vector<double>& out) {
  if (wire_ == Wire::fixed32) {
    out.push_back(static_cast<double>(to_float(number_)));
    return;
  }
  if (bytes_.size() % 4 != 0) fail();
  out.reserve(out.size() + bytes_.size() / 4);
  for (std::size_t at = 0; at + 4 <= bytes_.size(); at += 4) {
    out.push_back(static_cast<double>(to_float(fixed(bytes_.substr(at, 4)))));
  }
}

void ProtobufReader::append_doubles(std::vector<double>& out) {
  if (wire_ == Wire::fixed64) {
    out.push_back(std::bit_cast<double>(number_));
    return;
  }
  if (bytes_.size() % 8 != 0) fail();
  out.reserve(out.size() + bytes_.size() / 8);
  for (std::size_t at = 0; at + 8 <= bytes_.size(); at += 8) {
    out.push_back(std::bit_cast<double>(fixed(bytes_.substr(at, 8))));
  }
}

}  // namespace hifi
