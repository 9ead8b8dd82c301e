#include "data/table.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "core/plugin.h"
#include "data/table_file.h"
#include "data/text_column.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// The one entry of the tables plug-in (arrow_plugin.cc); it may change `content`.
using ReadFunction = void (*)(std::string& content, const ReadOptions& options, Table& table);

std::string list_columns(const Table& table) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, table.columns.size()); ++i) {
    list += (i == 0 ? "" : ", ") + quoted(table.columns[i].name);
  }
  if (table.columns.size() > kShown) list += fmt::format(" and {} more", table.columns.size() - kShown);
  return list;
}

void check_names(const Table& table) {
  std::vector<std::string_view> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  std::sort(names.begin(), names.end());
  // pandas writes its index under an empty name, a comma at the end of each line makes another.
  const auto first =
      std::find_if(names.begin(), names.end(), [](std::string_view name) { return !name.empty(); });
  const auto twice = std::adjacent_find(first, names.end());
  if (twice != names.end()) {
    throw input_error(fmt::format("{}: two columns have the name {}", table.source, quoted(*twice)));
  }
}

class Hasher {
 public:
  Hasher() : state_(XXH3_createState(), XXH3_freeState) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void add(const void* data, std::size_t size) { XXH3_128bits_update(state_.get(), data, size); }
  void add(std::uint64_t value) { add(&value, sizeof value); }
  void add(std::string_view text) {
    add(text.size());
    add(text.data(), text.size());
  }
  std::string digest() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

// Equal values have equal bits: one NaN, one zero.
std::uint64_t canonical_bits(double value) {
  if (std::isnan(value)) return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
}

}  // namespace

const Column* Table::find(std::string_view name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

const Column& Table::require(std::string_view name) const {
  const Column* column = find(name);
  if (column == nullptr) {
    throw input_error(fmt::format("{}: there is no column {}", source, quoted(name)),
                      "the columns are " + list_columns(*this));
  }
  if (!column->problem.empty()) {
    throw input_error(fmt::format("{}: column {} {}", source, quoted(name), column->problem));
  }
  return *column;
}

const Column& Table::require_number(std::string_view name) const {
  const Column& column = require(name);
  if (column.type != ColumnType::text) return column;
  for (std::size_t row = 0; row < column.values.size(); ++row) {
    if (std::isnan(column.values[row])) continue;
    const std::string& text = column.dictionary[static_cast<std::size_t>(column.values[row])];
    if (parse_number(text).kind != TextKind::not_a_number) continue;
    throw input_error(fmt::format("{}: column {}: {} is {}, not a number", source, quoted(name),
                                  row_name(row), quoted(text)),
                      "a missing number is an empty field, NA or NaN");
  }
  throw input_error(fmt::format("{}: column {} holds text, not numbers", source, quoted(name)));
}

std::string Table::row_name(std::size_t row) const { return hifi::row_name(row, first_line); }

Table read_table(const std::string& path, const ReadOptions& options) {
  Table table{.source = path};
  std::string content = read_content(path);
  const auto read = reinterpret_cast<ReadFunction>(
      plugin_symbol("tables", "hifi_read_table", "the Python package pyarrow"));
  read(content, options, table);
  if (!options.equal_names) check_names(table);
  return table;
}

std::string table_hash(const Table& table) {
  Hasher hasher;
  hasher.add(table.rows);
  hasher.add(table.columns.size());
  std::vector<std::uint64_t> bits;
  for (const Column& column : table.columns) {
    hasher.add(column.name);
    hasher.add(static_cast<std::uint64_t>(column.type));
    bits.resize(column.values.size());
    std::transform(column.values.begin(), column.values.end(), bits.begin(), canonical_bits);
    hasher.add(bits.data(), bits.size() * sizeof(std::uint64_t));
    hasher.add(column.dictionary.size());
    for (const std::string& text : column.dictionary) hasher.add(text);
  }
  return hasher.digest();
}

}  // namespace hifi
