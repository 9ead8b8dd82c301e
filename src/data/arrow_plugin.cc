// The tables plug-in: the one file that sees Arrow.
//
// Arrow splits CSV into fields; what a field means is decided in text_column.cc, because Arrow's own
// guessing turns dates into timestamps and rounds large integers. Parquet and Feather bring types.
#include <arrow/api.h>
#include <arrow/csv/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "core/parallel.h"
#include "data/csv_text.h"
#include "data/table.h"
#include "data/table_file.h"
#include "data/text_column.h"
#include "hifi/error.h"

namespace hifi {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Arrow's texts may go on for lines, with its source files in them.
Error arrow_error(const std::string& path, const std::string& what, std::string_view message) {
  const std::string_view line = message.substr(0, message.find('\n'));
  return input_error(fmt::format("{}: {}: {}", path, what, one_line(line)));
}

template <typename T>
T value_or_throw(arrow::Result<T> result, const std::string& path, const std::string& what) {
  if (!result.ok()) throw arrow_error(path, what, result.status().message());
  return std::move(result).ValueUnsafe();
}

std::shared_ptr<arrow::io::BufferReader> reader_of(std::string_view content) {
  return std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
      reinterpret_cast<const std::uint8_t*>(content.data()), static_cast<std::int64_t>(content.size())));
}

bool is_forced_text(const ReadOptions& options, const std::string& name) {
  return std::find(options.text_columns.begin(), options.text_columns.end(), name) !=
         options.text_columns.end();
}

// convert(i) for every column; a pool is not worth its threads for small tables.
template <typename Convert>
void for_each_column(Table& table, std::size_t columns, const Convert& convert) {
  constexpr std::size_t kManyValues = 100000;
  table.columns.resize(columns);
  Workers workers(table.rows * columns < kManyValues ? 1 : 0);
  workers.parallel_for(columns, [&](std::size_t i) { table.columns[i] = convert(i); });
}

std::string decompress(const std::string& path, std::string_view content) {
  const std::string what = "cannot be decompressed";
  auto codec = value_or_throw(arrow::util::Codec::Create(arrow::Compression::GZIP), path, what);
  auto stream =
      value_or_throw(arrow::io::CompressedInputStream::Make(codec.get(), reader_of(content)), path, what);
  constexpr std::int64_t kBlock = 1 << 20;
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    text.resize(used + kBlock);
    const std::int64_t count = value_or_throw(stream->Read(kBlock, text.data() + used), path, what);
    text.resize(used + static_cast<std::size_t>(count));
    if (count == 0) return text;
  }
}

// ---- CSV

std::shared_ptr<arrow::Table> split_csv(const std::string& path, std::string_view text) {
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.default_column_type = arrow::binary();  // UTF-8 has been checked
  convert.strings_can_be_null = false;
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.newlines_in_values = text.find('"') != std::string_view::npos;
  auto read = arrow::csv::ReadOptions::Defaults();
  const auto attempt = [&]() -> arrow::Result<std::shared_ptr<arrow::Table>> {
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::csv::TableReader::Make(arrow::io::default_io_context(),
                                                                     reader_of(text), read, parse, convert));
    return reader->Read();
  };
  auto table = attempt();
  if (table.ok()) return *table;
  check_csv_widths(path, text);
  // A row longer than Arrow's block fails for that alone: once more, in one block.
  constexpr std::size_t kLargest = std::numeric_limits<std::int32_t>::max();
  read.use_threads = false;
  read.block_size = static_cast<std::int32_t>(std::min(text.size(), kLargest));
  return value_or_throw(attempt(), path, "cannot be read as CSV");
}

std::vector<std::string_view> texts_of(const arrow::ChunkedArray& column) {
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<std::size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& array = static_cast<const arrow::BinaryArray&>(*chunk);
    for (std::int64_t i = 0; i < array.length(); ++i) texts.push_back(array.GetView(i));
  }
  return texts;
}

void read_csv(std::string& content, const ReadOptions& options, Table& table) {
  if (content.back() != '\n') content += '\n';  // Arrow takes a lone header for an empty file without it
  std::string_view text = content;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  check_csv_text(table.source, text);
  const auto split = split_csv(table.source, text);
  table.rows = static_cast<std::size_t>(split->num_rows());
  table.first_line = csv_first_line(text, table.rows);
  for_each_column(table, static_cast<std::size_t>(split->num_columns()), [&](std::size_t i) {
    const std::string& name = split->field(static_cast<int>(i))->name();
    return column_from_texts(name, texts_of(*split->column(static_cast<int>(i))),
                             is_forced_text(options, name), table.first_line);
  });
}

}  // namespace
}  // namespace hifi

extern "C" {
extern const char* const hifi_plugin_build_id;
const char* const hifi_plugin_build_id = HIFI_BUILD_ID;

void hifi_read_table(std::string& content, const hifi::ReadOptions& options, hifi::Table& table);
void hifi_read_table(std::string& content, const hifi::ReadOptions& options, hifi::Table& table) {
  using hifi::TableFormat;
  try {
    TableFormat format = hifi::table_format(table.source, content);
    if (format == TableFormat::gzip) {
      content = hifi::decompress(table.source, content);
      if (content.empty()) throw hifi::input_error(table.source + ": the file is empty");
      format = hifi::table_format(table.source, content);
    }
    switch (format) {
      case TableFormat::csv:
        return hifi::read_csv(content, options, table);
      default:
        throw hifi::input_error(table.source + ": not supported yet");
    }
  } catch (const hifi::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw hifi::input_error(table.source + ": the table does not fit into memory");
  } catch (const std::exception& error) {
    throw hifi::arrow_error(table.source, "cannot be read", error.what());
  }
}
}
