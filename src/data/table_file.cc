#include "data/table_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "hifi/error.h"

namespace hifi {

namespace {

Error system_error(const std::string& path) { return input_error(path + ": " + std::strerror(errno)); }

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) throw system_error(path);
  }
  ~FileDescriptor() { close(number_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// A magic word is only one if a byte follows that no CSV header has there: a column may be called
// PAR1. All three formats go on with a byte below 32 that is no white space.
bool has_magic(std::string_view content, std::string_view magic) {
  if (!content.starts_with(magic)) return false;
  if (content.size() == magic.size()) return true;
  const auto next = static_cast<unsigned char>(content[magic.size()]);
  return next < 32 && next != '\n' && next != '\r' && next != '\t';
}

}  // namespace

std::string read_content(const std::string& path) {
  const FileDescriptor file(path);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) throw system_error(path);
  if (S_ISDIR(status.st_mode)) throw input_error(path + ": is a directory, not a table");

  std::string content;
  std::size_t used = 0;
  // One byte more than the size, so that the end of a regular file is seen without growing.
  content.resize(static_cast<std::size_t>(status.st_size > 0 ? status.st_size : 65536) + 1);
  while (true) {
    if (used == content.size()) content.resize(2 * content.size());
    const ssize_t count = read(file.number(), content.data() + used, content.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error(path);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  content.resize(used);
  if (content.empty()) throw input_error(path + ": the file is empty");
  return content;
}

TableFormat table_format(const std::string& path, std::string_view content) {
  if (has_magic(content, "PAR1")) return TableFormat::parquet;
  if (has_magic(content, "ARROW1")) return TableFormat::feather;
  if (content.starts_with("\x1f\x8b")) return TableFormat::gzip;
  if (has_magic(content, "FEA1")) {
    throw input_error(path + ": Feather version 1 is not supported",
                      "write it again with a newer pyarrow, as Feather version 2 or Parquet");
  }
  if (content.starts_with("PARE")) throw input_error(path + ": encrypted Parquet is not supported");
  if (content.starts_with("SQLite format 3")) {
    throw input_error(path + ": is a run file or another SQLite database, not a table");
  }
  if (content.starts_with("{\"") || content.starts_with("[{"))
    throw input_error(path + ": is JSON, not a table");
  if (content.starts_with("PK\x03\x04")) {
    throw input_error(path + ": is a ZIP archive or an Excel workbook, not a table", "save the sheet as CSV");
  }
  if (content.starts_with("\xff\xff\xff\xff")) {
    throw input_error(path + ": is an Arrow stream, which is not supported", "write it as an Arrow file");
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPromises{
      {{".parquet", "Parquet"}, {".pq", "Parquet"}, {".feather", "Feather"}, {".arrow", "Arrow"}}};
  for (const auto& [suffix, name] : kPromises) {
    if (path.ends_with(suffix)) throw input_error(fmt::format("{}: is not a {} file", path, name));
  }
  return TableFormat::csv;
}

}  // namespace hifi
