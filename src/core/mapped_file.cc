#include "core/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hifi/error.h"

namespace hifi {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw input_error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  void* address = MAP_FAILED;
  if (regular && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  }
  const int reason = errno;
  close(descriptor);
  if (!regular) throw input_error(fmt::format("{}: is no regular file", path));
  if (size_ == 0) throw input_error(fmt::format("{}: is empty", path));
  if (address == MAP_FAILED) {
    throw input_error(fmt::format("{}: cannot be mapped into memory: {}", path, std::strerror(reason)));
  }
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace hifi
