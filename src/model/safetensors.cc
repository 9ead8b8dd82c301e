#include "model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "core/hash.h"
#include "core/json_text.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestHeader = 100'000'000;  // as in the owner's library

std::size_t bytes_of(std::string_view dtype) {
  static const std::map<std::string_view, std::size_t> kSizes{
      {"F64", 8},  {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
      {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
  const auto found = kSizes.find(dtype);
  return found == kSizes.end() ? 0 : found->second;
}

json parse_header(const MappedFile& file) {
  const auto bytes = file.bytes();
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    throw input_error(fmt::format("{}: is too short for a safetensors file", file.path()));
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length || length > kLongestHeader) {
    throw input_error(
        fmt::format("{}: the header claims {} bytes, the file has {}", file.path(), length, bytes.size()),
        "it is cut, or no safetensors file");
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof length;
  json header = parse_json({text, length}, file.path());
  if (!header.is_object()) {
    throw input_error(fmt::format("{}: the header is no JSON object", file.path()),
                      "it is cut, or no safetensors file");
  }
  return header;
}

// A count that is one: json::get would wrap -1 and cut 1e300.
std::uint64_t count_of(const json& value) {
  if (!value.is_number_unsigned()) throw std::invalid_argument("no count");
  return value.get<std::uint64_t>();
}

Tensor read_tensor(const json& entry, const MappedFile& file, std::span<const std::byte> data) {
  Tensor tensor{.dtype = entry.at("dtype").get<std::string>(), .path = &file.path()};
  std::uint64_t size = bytes_of(tensor.dtype);
  if (size == 0) throw std::invalid_argument("unknown dtype " + tensor.dtype);
  if (!entry.at("shape").is_array()) throw std::invalid_argument("its shape is no list");
  for (const json& extent : entry.at("shape")) {
    tensor.shape.push_back(count_of(extent));
    if (__builtin_mul_overflow(size, tensor.shape.back(), &size))
      throw std::invalid_argument("the shape is too large");
  }
  const json& offsets = entry.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) throw std::invalid_argument("data_offsets are no pair");
  const std::uint64_t begin = count_of(offsets[0]);
  const std::uint64_t end = count_of(offsets[1]);
  if (begin > end || end > data.size()) {
    throw std::invalid_argument(
        fmt::format("its bytes {} to {} lie outside of the file, which has {}", begin, end, data.size()));
  }
  if (end - begin != size) {
    throw std::invalid_argument(
        fmt::format("it has {} bytes, dtype and shape ask for {}", end - begin, size));
  }
  tensor.data = data.subspan(begin, size);
  return tensor;
}

// Tensors must cover the data without gaps and overlaps: the owner's library refuses others, too.
void check_cover(const Safetensors& file, const std::string& path, std::span<const std::byte> data) {
  std::vector<std::pair<std::span<const std::byte>, const std::string*>> parts;
  for (const auto& [name, tensor] : file.tensors()) parts.emplace_back(tensor.data, &name);
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.data(), a.first.size()) < std::pair(b.first.data(), b.first.size());
  });
  const std::byte* end = data.data();
  for (const auto& [bytes, name] : parts) {
    if (bytes.data() != end) {
      throw input_error(fmt::format("{}: tensor \"{}\" {} before it", path, *name,
                                    bytes.data() < end ? "overlaps the one" : "leaves a gap"),
                        "the file is broken");
    }
    end += bytes.size();
  }
  const auto covered = static_cast<std::size_t>(end - data.data());
  if (covered == data.size()) return;
  throw input_error(fmt::format("{}: its tensors have {} bytes, the file has {} after the header", path,
                                covered, data.size()),
                    "it is cut, or was not written completely");
}

}  // namespace

std::size_t Tensor::size() const {
  std::size_t product = 1;
  for (const std::size_t extent : shape) product *= extent;
  return product;
}

Safetensors::Safetensors(const std::string& path) : file_(path) {
  const json header = parse_header(file_);
  std::uint64_t length = 0;
  std::memcpy(&length, file_.bytes().data(), sizeof length);
  const auto data = file_.bytes().subspan(sizeof length + length);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    try {
      tensors_.emplace(name, read_tensor(entry, file_, data));
    } catch (const json::exception&) {
      throw input_error(fmt::format("{}: tensor \"{}\" lacks dtype, shape or data_offsets", path, name));
    } catch (const std::invalid_argument& error) {
      throw input_error(fmt::format("{}: tensor \"{}\": {}", path, name, error.what()),
                        "the file is cut or broken");
    }
  }
  check_cover(*this, path, data);
}

WeightFiles::WeightFiles(const std::string& folder) : folder_(folder) {
  namespace fs = std::filesystem;
  const fs::path single = fs::path(folder) / "model.safetensors";
  const fs::path index = fs::path(folder) / "model.safetensors.index.json";
  const auto take = [&](const std::string& path) {
    files_.push_back(std::make_unique<Safetensors>(path));
    for (const auto& [name, tensor] : files_.back()->tensors()) {
      const auto [other, is_new] = tensors_.emplace(name, &tensor);
      if (is_new) continue;
      throw input_error(fmt::format("{}: tensor \"{}\" is in {}, too", path, name, *other->second->path));
    }
  };
  if (is_there(single.string())) {
    take(single.string());
    return;
  }
  if (!is_there(index.string())) {
    throw input_error(fmt::format("{}: has neither model.safetensors nor its index", folder),
                      "--model takes a folder as the hub stores it");
  }
  const json document = parse_json(read_file(index.string()), index.string());
  if (!document.is_object() || !document.contains("weight_map") || !document["weight_map"].is_object()) {
    throw input_error(fmt::format("{}: has no weight_map", index.string()));
  }
  std::set<std::string> shards;
  for (const auto& [name, file] : document["weight_map"].items()) {
    // A shard lies beside its index: a name that leads elsewhere is none.
    if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>()) {
      throw input_error(fmt::format("{}: the shard of \"{}\" is no file name", index.string(), name));
    }
    shards.insert(file.get<std::string>());
  }
  for (const std::string& shard : shards) take((fs::path(folder) / shard).string());
  for (const auto& [name, file] : document["weight_map"].items()) {
    const auto shard = fs::path(folder) / file.get<std::string>();
    if (const Tensor* found = find(name); found != nullptr && *found->path == shard.string()) continue;
    throw input_error(
        fmt::format("{}: {} has no tensor \"{}\"", index.string(), file.get<std::string>(), name));
  }
}

const Tensor* WeightFiles::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : found->second;
}

std::uint64_t WeightFiles::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [name, tensor] : tensors_) sum += tensor->data.size();
  return sum;
}

std::string WeightFiles::hash() const {
  std::string parts;
  for (const auto& [name, tensor] : tensors_) {
    const auto* bytes = reinterpret_cast<const char*>(tensor->data.data());
    parts += fmt::format("{} {} {}\n", name, tensor->dtype, hex_hash({bytes, tensor->data.size()}));
    for (const std::size_t extent : tensor->shape) parts += fmt::format("{} ", extent);
  }
  return hex_hash(parts);
}

namespace {

float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
  const std::uint32_t exponent = (half >> 10) & 31U;
  const std::uint32_t fraction = half & 1023U;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24F;  // subnormal
  return sign != 0 ? -small : small;
}

}  // namespace

Floats::Floats(const Tensor& tensor, const std::string& name) {
  const std::byte* data = tensor.data.data();
  if (tensor.dtype == "F32") {
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0) {
      view_ = {reinterpret_cast<const float*>(data), tensor.size()};
      return;
    }
    own_.resize(tensor.size());
    std::memcpy(own_.data(), data, tensor.data.size());
  } else if (tensor.dtype == "F16" || tensor.dtype == "BF16") {
    own_.resize(tensor.size());
    for (std::size_t k = 0; k < own_.size(); ++k) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, data + 2 * k, sizeof bits);
      own_[k] = tensor.dtype == "F16" ? from_half(bits)
                                      : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
  } else {
    throw input_error(fmt::format("{}: tensor \"{}\" has dtype {}", *tensor.path, name, tensor.dtype),
                      "weights must be F32, F16 or BF16");
  }
  view_ = own_;
}

}  // namespace hifi
