// A table in memory, column by column, every value a double.
//
// Numbers and booleans are their values; a text is its position in the column's dictionary (order
// of first appearance); a missing value is NaN. A column without any value is a number column of
// NaN in every format. Readers are behind the tables plug-in, so nothing here knows Arrow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hifi {

enum class ColumnType { number, boolean, text };

struct Column {
  std::string name;
  ColumnType type = ColumnType::number;
  std::vector<double> values;
  std::vector<std::string> dictionary;  // texts only
  // Why this column must not be used (say, an integer that a double cannot hold), or empty; reads on
  // after `column "id" `. Raised when the column is asked for, so that an unused identifier column
  // does no harm.
  std::string problem;
};

struct Table {
  std::string source;  // for messages: the path as given
  std::size_t rows = 0;
  std::vector<Column> columns;
  std::size_t first_line = 0;  // line of data row 1 in a text file; 0 if the format has no lines

  const Column* find(std::string_view name) const;
  // Throws Error(input) that lists the columns if there is none of this name, or if it has a problem.
  const Column& require(std::string_view name) const;
  // The same for numbers and booleans: a text column throws Error(input) that names the first row
  // whose text is no number ("1,2,abc" makes a whole CSV column text).
  const Column& require_number(std::string_view name) const;
  // "data row 3 (line 4)" for row 2 of a CSV file with a header.
  std::string row_name(std::size_t row) const;
};

struct ReadOptions {
  std::vector<std::string> text_columns;  // read as text whatever they look like ("0110")
  bool equal_names = false;               // allow columns of one name: a file of bare numbers has no names
};

// Reads CSV (also gzip-compressed), Parquet or Feather, by content, then suffix; /dev/stdin and FIFOs
// work. A file without data rows gives rows = 0. Throws Error(input) naming file, row and column.
Table read_table(const std::string& path, const ReadOptions& options = {});

// A hash of names, types and values, as hexadecimal text; independent of the file format.
std::string table_hash(const Table& table);

}  // namespace hifi
