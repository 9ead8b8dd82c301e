#include "masking/frame.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <unordered_map>

#include "core/hash.h"
#include "hifi/error.h"

namespace hifi {

namespace {

// A value of a categorical column becomes its code by way of its text ("3" for the number 3).
class CodeBook {
 public:
  explicit CodeBook(const std::vector<std::string>& categories) {
    for (std::size_t c = 0; c < categories.size(); ++c) codes_.emplace(categories[c], static_cast<double>(c));
  }
  // NaN: not in the book.
  double code(const std::string& text) const {
    const auto found = codes_.find(text);
    return found == codes_.end() ? std::nan("") : found->second;
  }

 private:
  std::unordered_map<std::string, double> codes_;
};

std::string text_of(const Column& column, double value) {
  return column.type == ColumnType::text ? column.dictionary[static_cast<std::size_t>(value)]
                                         : fmt::format("{}", value);
}

void fill_categories(const Table& table, const Column& column, const std::vector<std::string>& categories,
                     std::size_t position, Frame& frame) {
  const CodeBook book(categories);
  std::vector<double> codes;
  for (const std::string& text : column.dictionary) codes.push_back(book.code(text));
  for (std::size_t row = 0; row < table.rows; ++row) {
    double value = column.values[row];
    if (!std::isnan(value)) {
      value = column.type == ColumnType::text ? codes[static_cast<std::size_t>(value)]
                                              : book.code(text_of(column, value));
      if (std::isnan(value)) {
        throw input_error(
            fmt::format("{}: column \"{}\", {}: \"{}\" is no category of the model", table.source,
                        column.name, table.row_name(row), text_of(column, column.values[row])),
            fmt::format("the model knows {}", fmt::join(categories, ", ")));
      }
    }
    frame.values[row * frame.width + position] = value;
  }
}

}  // namespace

Frame make_frame(const Table& table, const InputColumns& columns) {
  Frame frame{.rows = table.rows, .width = columns.names.size(), .values = {}};
  frame.values.resize(frame.rows * frame.width);
  for (std::size_t c = 0; c < frame.width; ++c) {
    if (!columns.categories[c].empty()) {
      fill_categories(table, table.require(columns.names[c]), columns.categories[c], c, frame);
      continue;
    }
    const Column& column = table.require_number(columns.names[c]);
    for (std::size_t row = 0; row < table.rows; ++row)
      frame.values[row * frame.width + c] = column.values[row];
  }
  // One NaN for all missing values, so that identical rows have identical bytes.
  for (double& value : frame.values) {
    if (std::isnan(value)) value = std::nan("");
  }
  return frame;
}

std::string frame_hash(const Frame& frame, const InputColumns& columns) {
  const Hash128 values = hash_numbers(frame.values, 0);
  std::string text =
      fmt::format("{}\n{}\n{} {}", frame.rows, fmt::join(columns.names, "\n"), values.low, values.high);
  for (const auto& book : columns.categories) text += fmt::format("\n{}", fmt::join(book, ","));
  return hex_hash(text);
}

}  // namespace hifi
