// A file as memory, read only. It stays mapped as long as the object lives; pages are read on demand.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hifi {

class MappedFile {
 public:
  // Throws Error(input) naming the path: missing, no regular file, unreadable, empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hifi
