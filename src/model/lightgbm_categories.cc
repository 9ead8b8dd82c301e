#include "model/lightgbm_categories.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hifi/error.h"

namespace hifi::lightgbm {

namespace {

using nlohmann::json;

std::string category_text(const json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  throw input_error(fmt::format("{}: a category of pandas_categorical is neither text nor number", where));
}

// From the parameters, and from the ranges of the features: those of numbers stand in brackets.
std::vector<std::size_t> categorical_columns(const Document& document, std::size_t width) {
  std::vector<bool> is_category(width);
  for (const std::uint32_t column : document.categorical) {
    if (column < width) is_category[column] = true;
  }
  if (document.header.has("feature_infos")) {
    const auto infos = split(document.header.text("feature_infos"), ' ');
    for (std::size_t i = 0; i < std::min(width, infos.size()); ++i) {
      if (!infos[i].starts_with('[') && infos[i] != "none") is_category[i] = true;
    }
  }
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < width; ++i) {
    if (is_category[i]) columns.push_back(i);
  }
  return columns;
}

}  // namespace

std::vector<std::vector<std::string>> read_categories(const Document& document, std::size_t width) {
  if (document.pandas_categories.empty()) return {};
  const std::string& where = document.header.where();
  const json lists = json::parse(document.pandas_categories, nullptr, false);
  if (lists.is_null() || (lists.is_array() && lists.empty())) return {};
  if (!lists.is_array()) throw input_error(fmt::format("{}: pandas_categorical is broken", where));
  const std::vector<std::size_t> columns = categorical_columns(document, width);
  if (lists.size() != columns.size()) {
    throw input_error(fmt::format("{}: pandas_categorical has {} lists for {} categorical columns", where,
                                  lists.size(), columns.size()),
                      "ordered categories count as numbers: train with their codes instead");
  }
  std::vector<std::vector<std::string>> categories(width);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!lists[i].is_array()) throw input_error(fmt::format("{}: pandas_categorical is broken", where));
    for (const json& value : lists[i]) categories[columns[i]].push_back(category_text(value, where));
  }
  return categories;
}

}  // namespace hifi::lightgbm
