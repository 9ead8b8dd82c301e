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
#include <utility>

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

// ---- Parquet and Feather

// A column with a type of its own, chunk by chunk.
class TypedColumn {
 public:
  explicit TypedColumn(bool is_dictionary = false) : is_dictionary_(is_dictionary) {}
  TypedColumn(const TypedColumn&) = delete;  // the encoder refers to the column
  TypedColumn& operator=(const TypedColumn&) = delete;

  void append(const arrow::Array& array);
  Column& column() { return column_; }

 private:
  template <typename Values, typename Convert>
  void append_each(const arrow::Array& array, const Convert& convert) {
    const auto& values = static_cast<const Values&>(array);
    for (std::int64_t i = 0; i < array.length(); ++i) {
      column_.values.push_back(values.IsNull(i) ? kMissing : convert(values, i));
    }
  }

  template <typename Values>
  void append_numbers(const arrow::Array& array) {
    append_each<Values>(
        array, [](const Values& values, std::int64_t i) { return static_cast<double>(values.Value(i)); });
  }

  template <typename Values>
  void append_wide_integers(const arrow::Array& array) {
    append_each<Values>(array, [this](const Values& values, std::int64_t i) {
      constexpr std::int64_t kExact = std::int64_t{1} << 53;
      const auto value = values.Value(i);
      if (std::cmp_greater(value, kExact) || std::cmp_less(value, -kExact)) {
        note(TextKind::rounded_integer, std::to_string(value));
      }
      return static_cast<double>(value);
    });
  }

  // By way of their texts: rounded once, and checked like those of a CSV file.
  template <typename Values>
  void append_decimals(const arrow::Array& array) {
    append_each<Values>(array, [this](const Values& values, std::int64_t i) {
      const std::string text = values.FormatValue(i);
      const ParsedText parsed = parse_number(text);
      if (parsed.kind != TextKind::number) note(parsed.kind, text);
      return parsed.value;
    });
  }

  template <typename Values>
  void append_texts(const arrow::Array& array) {
    column_.type = ColumnType::text;
    append_each<Values>(
        array, [this](const Values& values, std::int64_t i) { return encoder_.code(values.GetView(i)); });
  }

  void append_dictionary(const arrow::DictionaryArray& array);

  // Called before the value is appended.
  void note(TextKind kind, const std::string& text) {
    if (!column_.problem.empty()) return;
    column_.problem =
        value_problem(kind, text, is_dictionary_ ? "its dictionary" : row_name(column_.values.size(), 0));
  }

  Column column_;
  TextEncoder encoder_{column_.dictionary};
  bool is_dictionary_;
};

// Codes follow the order of the rows, not that of the file's dictionary, which may differ between
// chunks and hold entries that no row uses.
void TypedColumn::append_dictionary(const arrow::DictionaryArray& array) {
  TypedColumn entries(true);
  entries.append(*array.dictionary());
  const Column& values = entries.column();
  if (column_.problem.empty()) column_.problem = values.problem;
  column_.type = values.type;
  for (std::int64_t i = 0; i < array.length(); ++i) {
    double value = kMissing;
    if (array.IsValid(i)) value = values.values[static_cast<std::size_t>(array.GetValueIndex(i))];
    if (values.type == ColumnType::text && !std::isnan(value)) {
      value = encoder_.code(values.dictionary[static_cast<std::size_t>(value)]);
    }
    column_.values.push_back(value);
  }
}

void TypedColumn::append(const arrow::Array& array) {
  using arrow::Type;
  switch (array.type_id()) {
    // clang-format off
    case Type::INT8: return append_numbers<arrow::Int8Array>(array);
    case Type::INT16: return append_numbers<arrow::Int16Array>(array);
    case Type::INT32: return append_numbers<arrow::Int32Array>(array);
    case Type::INT64: return append_wide_integers<arrow::Int64Array>(array);
    case Type::UINT8: return append_numbers<arrow::UInt8Array>(array);
    case Type::UINT16: return append_numbers<arrow::UInt16Array>(array);
    case Type::UINT32: return append_numbers<arrow::UInt32Array>(array);
    case Type::UINT64: return append_wide_integers<arrow::UInt64Array>(array);
    case Type::FLOAT: return append_numbers<arrow::FloatArray>(array);
    case Type::DOUBLE: return append_numbers<arrow::DoubleArray>(array);
    case Type::DECIMAL32: return append_decimals<arrow::Decimal32Array>(array);
    case Type::DECIMAL64: return append_decimals<arrow::Decimal64Array>(array);
    case Type::DECIMAL128: return append_decimals<arrow::Decimal128Array>(array);
    case Type::DECIMAL256: return append_decimals<arrow::Decimal256Array>(array);
    case Type::STRING: return append_texts<arrow::StringArray>(array);
    case Type::LARGE_STRING: return append_texts<arrow::LargeStringArray>(array);
    case Type::STRING_VIEW: return append_texts<arrow::StringViewArray>(array);
    case Type::DICTIONARY: return append_dictionary(static_cast<const arrow::DictionaryArray&>(array));
    // clang-format on
    case Type::HALF_FLOAT:
      return append_each<arrow::HalfFloatArray>(
          array, [](const arrow::HalfFloatArray& values, std::int64_t i) {
            return arrow::util::Float16::FromBits(values.Value(i)).ToDouble();
          });
    case Type::BOOL:
      column_.type = ColumnType::boolean;
      return append_numbers<arrow::BooleanArray>(array);
    default:
      column_.values.resize(column_.values.size() + static_cast<std::size_t>(array.length()), kMissing);
      if (array.type_id() == Type::NA) return;
      column_.problem =
          fmt::format("has type {}, which is not supported", one_line(array.type()->ToString(), 60));
  }
}

bool holds_text(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY) {
    return holds_text(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING ||
         type.id() == arrow::Type::STRING_VIEW || type.id() == arrow::Type::NA;
}

Column typed_column(const std::string& name, const arrow::ChunkedArray& chunks, bool keep_as_text) {
  TypedColumn builder;
  Column& column = builder.column();
  column.name = name;
  column.values.reserve(static_cast<std::size_t>(chunks.length()));
  for (const auto& chunk : chunks.chunks()) builder.append(*chunk);
  const bool no_value =
      std::all_of(column.values.begin(), column.values.end(), [](double v) { return std::isnan(v); });
  if (no_value) column.type = ColumnType::number;
  if (keep_as_text) {
    column.type = ColumnType::text;
    if (!holds_text(*chunks.type())) {
      column.problem = fmt::format("is {}; it must be text", one_line(chunks.type()->ToString(), 60));
    }
  }
  return std::move(column);
}

arrow::Result<std::shared_ptr<arrow::Table>> load_parquet(std::string_view content) {
  auto properties = parquet::default_reader_properties();
  properties.set_page_checksum_verification(true);
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/true);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(reader_of(content), properties));
  ARROW_ASSIGN_OR_RAISE(auto reader, builder.properties(arrow_properties)->Build());
  return reader->ReadTable();
}

arrow::Result<std::shared_ptr<arrow::Table>> load_feather(std::string_view content) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;  // a damaged file may lack it
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(reader_of(content), options));
  return reader->ToTable();
}

void convert_typed(const arrow::Result<std::shared_ptr<arrow::Table>>& loaded, const std::string& what,
                   const ReadOptions& options, Table& table) {
  const auto typed = value_or_throw(loaded, table.source, what);
  const arrow::Status valid = typed->ValidateFull();
  if (!valid.ok()) throw arrow_error(table.source, what, valid.message());
  table.rows = static_cast<std::size_t>(typed->num_rows());
  for_each_column(table, static_cast<std::size_t>(typed->num_columns()), [&](std::size_t i) {
    const std::string& name = typed->field(static_cast<int>(i))->name();
    return typed_column(name, *typed->column(static_cast<int>(i)), is_forced_text(options, name));
  });
}

}  // namespace
}  // namespace hifi

extern "C" {
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
    if (format == TableFormat::csv) {
      hifi::read_csv(content, options, table);
    } else if (format == TableFormat::parquet) {
      hifi::convert_typed(hifi::load_parquet(content), "cannot be read as Parquet", options, table);
    } else if (format == TableFormat::feather) {
      hifi::convert_typed(hifi::load_feather(content), "cannot be read as Feather", options, table);
    } else {
      throw hifi::input_error(table.source + ": is compressed twice");
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
