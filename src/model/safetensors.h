// Weights as the hub stores them: one `model.safetensors`, or shards with `model.safetensors.index.json`.
//
// A file is eight bytes of header length (little endian), a JSON header and the data. Files are mapped, not
// read; everything that the header says is checked against the size of the file before a tensor is handed
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/mapped_file.h"

namespace hifi {

struct Tensor {
  std::string dtype;  // F32, F16, BF16, I64, ..
  std::vector<std::size_t> shape;
  std::span<const std::byte> data;
  const std::string* path = nullptr;  // of its file

  std::size_t size() const;  // numbers
};

class Safetensors {
 public:
  // Throws Error(input) naming the file, and the tensor where one is wrong.
  explicit Safetensors(const std::string& path);

  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }

 private:
  MappedFile file_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

// The weights of a folder: one file, or all shards that the index names.
class WeightFiles {
 public:
  // Throws Error(input): no weights, a missing or cut shard, a tensor in two shards or not in the one that
  // the index names.
  explicit WeightFiles(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const Tensor* find(std::string_view name) const;
  std::uint64_t bytes() const;  // mapped
  // Of names, shapes and numbers.
  std::string hash() const;

 private:
  std::string folder_;
  std::vector<std::unique_ptr<Safetensors>> files_;
  std::map<std::string, const Tensor*, std::less<>> tensors_;
};

// Numbers of a tensor as floats: a view where the file has aligned floats, else a copy.
class Floats {
 public:
  Floats() = default;
  // Throws Error(input) naming file and tensor if its numbers are no F32, F16 or BF16.
  Floats(const Tensor& tensor, const std::string& name);
  explicit Floats(std::vector<float> values) : own_(std::move(values)), view_(own_) {}
  Floats(Floats&&) = default;
  Floats& operator=(Floats&&) = default;
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  const float* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  std::uint64_t copied_bytes() const { return own_.size() * sizeof(float); }
  const float& operator[](std::size_t index) const { return view_[index]; }
  std::span<const float> span() const { return view_; }

 private:
  std::vector<float> own_;
  std::span<const float> view_;
};

}  // namespace hifi
