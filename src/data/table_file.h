// The bytes of a table file and what they are.
#pragma once

#include <string>
#include <string_view>

namespace hifi {

enum class TableFormat { csv, parquet, feather, gzip };

// The whole file, read once into memory: the format is recognised by content, checks and parser see
// the same bytes, and a pipe works like a file. Throws Error(input).
std::string read_content(const std::string& path);

// By content, then by the suffix of `path`. Throws Error(input) for formats that we know but do not
// read, and for a suffix that promises what the content does not hold.
TableFormat table_format(const std::string& path, std::string_view content);

}  // namespace hifi
