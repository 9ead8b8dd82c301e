// Small tables written down in tests.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "data/table.h"

namespace hifi {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

inline Column number_column(std::string name, std::vector<double> values) {
  return {.name = std::move(name), .values = std::move(values)};
}
inline Column boolean_column(std::string name, std::vector<double> values) {
  return {.name = std::move(name), .type = ColumnType::boolean, .values = std::move(values)};
}
inline Column text_column(std::string name, std::vector<std::string> dictionary, std::vector<double> codes) {
  return {.name = std::move(name),
          .type = ColumnType::text,
          .values = std::move(codes),
          .dictionary = std::move(dictionary)};
}

inline Table table_of(std::vector<Column> columns) {
  const std::size_t rows = columns.at(0).values.size();
  return {.source = "t.csv", .rows = rows, .columns = std::move(columns), .first_line = 2};
}

}  // namespace hifi
