// Walks the fields of one protobuf message: numbers, lengths and nothing else. Bounds are checked at every
// step; a reader never looks beyond the bytes that it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hifi {

class ProtobufReader {
 public:
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  // Goes to the next field; false at the end of the message, and where it is broken.
  bool next();
  bool broken() const { return broken_; }

  std::uint32_t field() const { return field_; }
  Wire wire() const { return wire_; }
  // Of the present field. The bytes of a field of another wire type are empty, its number is 0.
  std::uint64_t varint() const { return number_; }
  std::string_view bytes() const { return bytes_; }
  float float32() const;

  // A repeated field of numbers comes packed or one by one; both are appended. A packed field that does not
  // end with an element marks the message as broken.
  void append_varints(std::vector<std::int64_t>& out);
  void append_floats(std::vector<double>& out);
  void append_doubles(std::vector<double>& out);

 private:
  bool read_varint(std::uint64_t& value);
  bool fail();

  std::string_view rest_;
  std::uint32_t field_ = 0;
  Wire wire_ = Wire::varint;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
  bool broken_ = false;
};

}  // namespace hifi
