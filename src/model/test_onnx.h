// ONNX files made by hand, for tests: a writer of protobuf fields, and the messages that tests need.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hifi::onnx {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string number_field(std::uint32_t field, std::int64_t value) {
  return varint(std::uint64_t{field} << 3) + varint(static_cast<std::uint64_t>(value));
}

inline std::string bytes_field(std::uint32_t field, std::string_view bytes) {
  return varint(std::uint64_t{field} << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

template <class T>
std::string raw_bytes(std::initializer_list<T> values) {
  std::string out;
  for (const T value : values) out.append(reinterpret_cast<const char*>(&value), sizeof(T));
  return out;
}

inline std::string ints_attribute(std::string_view name, std::initializer_list<std::int64_t> values) {
  std::string packed;
  for (const std::int64_t value : values) packed += varint(static_cast<std::uint64_t>(value));
  return bytes_field(5, bytes_field(1, name) + bytes_field(8, packed) + number_field(20, 7));
}

inline std::string int_attribute(std::string_view name, std::int64_t value) {
  return bytes_field(5, bytes_field(1, name) + number_field(3, value) + number_field(20, 2));
}

inline std::string floats_attribute(std::string_view name, std::initializer_list<float> values) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(7, raw_bytes(values)) + number_field(20, 6));
}

inline std::string text_attribute(std::string_view name, std::string_view text) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(4, text) + number_field(20, 3));
}

inline std::string texts_attribute(std::string_view name, std::initializer_list<std::string_view> texts) {
  std::string list;
  for (const std::string_view text : texts) list += bytes_field(9, text);
  return bytes_field(5, bytes_field(1, name) + list + number_field(20, 8));
}

// A node of the graph. `attributes` are made by the functions above, one behind the other.
inline std::string node_field(std::string_view op, std::string_view domain,
                              std::initializer_list<std::string_view> inputs,
                              std::initializer_list<std::string_view> outputs,
                              const std::string& attributes = "") {
  std::string node;
  for (const std::string_view input : inputs) node += bytes_field(1, input);
  for (const std::string_view output : outputs) node += bytes_field(2, output);
  return bytes_field(1, node + bytes_field(4, op) + attributes + bytes_field(7, domain));
}

// A tensor of the graph's inputs (field 11) or outputs (field 12); a size below 0 is not known.
inline std::string value_field(std::uint32_t field, std::string_view name, std::int64_t type,
                               std::initializer_list<std::int64_t> shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += bytes_field(1, size < 0 ? "" : number_field(1, size));
  const std::string tensor = number_field(1, type) + bytes_field(2, sizes);
  return bytes_field(field, bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor)));
}

inline std::string initialiser_field(std::string_view name, std::int64_t type,
                                     std::initializer_list<std::int64_t> shape, std::string_view raw) {
  std::string tensor;
  for (const std::int64_t size : shape) tensor += number_field(1, size);
  return bytes_field(5, tensor + number_field(2, type) + bytes_field(8, name) + bytes_field(9, raw));
}

inline std::string model_file(const std::string& graph) {
  return number_field(1, 8) + bytes_field(2, "test") + bytes_field(7, graph) +
         bytes_field(8, bytes_field(1, "") + number_field(2, 17)) +
         bytes_field(8, bytes_field(1, "ai.onnx.ml") + number_field(2, 3));
}

}  // namespace hifi::onnx
