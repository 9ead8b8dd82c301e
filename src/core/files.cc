#include "core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hifi/error.h"

namespace hifi {

namespace {

std::string temporary_name(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

bool is_device(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw input_error(fmt::format("{}: is a directory, a file is needed", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(fmt::format("{}: {}", path, std::strerror(errno)));
  std::ostringstream content;
  content << in.rdbuf();
  if (in.bad()) throw input_error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  std::string text = std::move(content).str();
  if (text.empty()) throw input_error(fmt::format("{}: the file is empty", path));
  return text;
}

void check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw input_error(fmt::format("{}: is a directory", path));
  if (is_device(path)) return;
  const std::string part = temporary_name(path);
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw input_error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  close(file);
  unlink(part.c_str());
}

void write_file(const std::string& path, std::string_view content) {
  const std::string part = is_device(path) ? path : temporary_name(path);
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const auto fail = [&] {
    const std::string reason = std::strerror(errno);
    if (file >= 0) close(file);
    if (part != path) unlink(part.c_str());
    throw input_error(fmt::format("{}: cannot be written: {}", path, reason));
  };
  if (file < 0) fail();
  while (!content.empty()) {
    const ssize_t count = write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  if (part == path) {
    close(file);
    return;
  }
  if (fsync(file) != 0) fail();
  close(file);
  if (rename(part.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    unlink(part.c_str());
    throw input_error(fmt::format("{}: cannot be written: {}", path, reason));
  }
}

}  // namespace hifi
