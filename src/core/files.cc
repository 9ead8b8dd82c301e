#include "core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "hifi/error.h"

namespace hifi {

namespace {

std::string temporary_name(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

bool is_device(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

Error cannot_write(const std::string& path) {
  return input_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

// Writes to `target`, names file.path in errors.
void write_through(const NewFile& file, const std::string& target) {
  const int descriptor = open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw cannot_write(file.path);
  const auto fail = [&] {
    const Error error = cannot_write(file.path);
    close(descriptor);
    throw error;
  };
  std::string_view rest = file.content;
  while (!rest.empty()) {
    const ssize_t count = write(descriptor, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  if (target != file.path && fsync(descriptor) != 0) fail();
  close(descriptor);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw input_error(fmt::format("{}: is a directory, a file is needed", path));
  }
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) throw input_error(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  std::array<char, 65536> buffer;
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0)
    text.append(buffer.data(), count);
  if (std::ferror(file.get()) != 0) {
    throw input_error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  if (text.empty()) throw input_error(fmt::format("{}: the file is empty", path));
  return text;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

void check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw input_error(fmt::format("{}: is a directory", path));
  if (is_device(path)) return;
  const std::string part = temporary_name(path);
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw cannot_write(path);
  close(file);
  unlink(part.c_str());
}

void write_file(const std::string& path, std::string_view content) {
  write_files({{.path = path, .content = std::string(content)}});
}

void write_files(const std::vector<NewFile>& files) {
  std::vector<std::string> parts;  // written, not yet renamed
  try {
    for (const NewFile& file : files) {
      const bool device = is_device(file.path);
      if (!device) parts.push_back(temporary_name(file.path));
      write_through(file, device ? file.path : parts.back());
    }
    std::size_t next = 0;
    for (const NewFile& file : files) {
      if (is_device(file.path)) continue;
      if (rename(parts[next++].c_str(), file.path.c_str()) != 0) throw cannot_write(file.path);
    }
  } catch (...) {
    for (const std::string& part : parts) unlink(part.c_str());
    throw;
  }
}

}  // namespace hifi
