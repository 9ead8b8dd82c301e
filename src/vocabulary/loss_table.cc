#include "vocabulary/loss_table.h"

#include <fmt/format.h>

#include <cmath>

#include "data/table.h"
#include "hifi/error.h"

namespace hifi {

namespace {

[[noreturn]] void fail(const Table& table, const char* column, std::size_t row, const std::string& what) {
  throw input_error(
      fmt::format("{}: column \"{}\", {}: {}", table.source, column, table.row_name(row), what));
}

std::vector<Coalition> read_coalitions(const Table& table) {
  const Column& column = table.require("coalition");
  if (column.type != ColumnType::text) {
    throw input_error(
        fmt::format("{}: column \"coalition\" must hold text, bit strings like 0110", table.source));
  }
  std::vector<std::size_t> first_row(column.dictionary.size(), SIZE_MAX);
  std::vector<Coalition> coalitions;
  coalitions.reserve(table.rows);
  std::size_t players = 0;
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (std::isnan(column.values[row])) fail(table, "coalition", row, "it is missing");
    const auto entry = static_cast<std::size_t>(column.values[row]);
    const std::string& bits = column.dictionary[entry];
    if (row == 0) players = bits.size();
    if (bits.size() != players) {
      fail(table, "coalition", row,
           fmt::format("\"{}\" has {} characters, the rows before have {}", bits, bits.size(), players));
    }
    if (bits.find_first_not_of("01") != std::string::npos) {
      fail(table, "coalition", row, fmt::format("\"{}\" is not a string of 0 and 1", bits));
    }
    if (first_row[entry] != SIZE_MAX) {
      fail(table, "coalition", row,
           fmt::format("\"{}\" is there already, in {}", bits, table.row_name(first_row[entry])));
    }
    first_row[entry] = row;
    coalitions.push_back(Coalition::from_string(bits));
  }
  return coalitions;
}

std::vector<double> read_numbers(const Table& table, const char* name, double least, const char* rule) {
  const std::vector<double>& values = table.require_number(name).values;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!std::isfinite(values[row]))
      fail(table, name, row, std::isnan(values[row]) ? "it is missing" : "it is infinite");
    if (values[row] < least) fail(table, name, row, fmt::format("{} is out of range: {}", values[row], rule));
  }
  return values;
}

std::vector<double> read_optional(const Table& table, const char* name, double least, const char* rule) {
  if (table.find(name) == nullptr) return {};
  return read_numbers(table, name, least, rule);
}

}  // namespace

LossTable read_loss_table(const std::string& path, const std::vector<std::string>& players) {
  const Table table = read_table(path, {.text_columns = {"coalition"}});
  if (table.rows == 0) throw input_error(fmt::format("{}: the table has no rows", path));
  LossTable result;
  result.coalitions = read_coalitions(table);
  result.losses = read_numbers(table, "loss", -HUGE_VAL, "");
  result.draws = read_optional(table, "k", 1, "a cell has at least one draw");
  result.variances = read_optional(table, "var", 0, "a variance is not negative");
  const std::size_t n = result.coalitions.front().players();
  if (!players.empty() && players.size() != n) {
    throw input_error(
        fmt::format("--players names {} players, the coalitions of {} have {}", players.size(), path, n));
  }
  result.players = players;
  for (std::size_t i = players.size(); i < n; ++i) result.players.push_back(fmt::format("x{}", i + 1));
  return result;
}

}  // namespace hifi
