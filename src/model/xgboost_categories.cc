#include "model/xgboost_categories.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hifi/error.h"

namespace hifi::xgboost {

namespace {

// Texts are stored back to back as signed bytes; `offsets` has their ends behind a leading 0.
//
// XGBoost 3.2 counts characters instead of bytes when the names come from pandas: from the first name that
// is not plain ASCII on, names are shifted and the last ones are cut. A damaged list can look sound and
// would map a name to another one's code, so a list with such a byte is not used.
std::vector<std::string> read_texts(const Value& column, const std::string& where) {
  const auto offsets = number_list(column, "offsets", where);
  const auto bytes = number_list(column, "values", where);
  std::string all;
  for (const double byte : bytes) {
    if (!(byte >= -128 && byte <= 255)) throw input_error(fmt::format("{}: {} is not a byte", where, byte));
    if (byte < 0 || byte > 127) return {};
    all.push_back(static_cast<char>(static_cast<int>(byte)));
  }
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const double first = offsets[i - 1];
    const double last = offsets[i];
    if (!(first >= 0 && first <= last && last <= static_cast<double>(all.size()))) {
      throw input_error(fmt::format("{}: the offsets do not fit the values", where));
    }
    const auto begin = static_cast<std::size_t>(first);
    texts.push_back(all.substr(begin, static_cast<std::size_t>(last) - begin));
  }
  return texts;
}

std::vector<std::string> read_numbers(const Value& column, const std::string& where) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double does not hold every integer
  std::vector<std::string> texts;
  for (const double value : number_list(column, "values", where)) {
    if (!(std::fabs(value) <= kExact)) {
      throw input_error(fmt::format("{}: {} is no category name that can be matched", where, value));
    }
    texts.push_back(fmt::format("{}", value));
  }
  return texts;
}

}  // namespace

std::vector<std::vector<std::string>> read_categories(const Value& model, std::size_t width,
                                                      const std::string& where) {
  const Value* stored = find_field(model, "cats");
  if (stored == nullptr) return {};
  const auto columns = value_list(*stored, "enc", where);
  if (columns.empty()) return {};
  if (columns.size() != width) {
    throw input_error(
        fmt::format("{}: categories of {} features, but {} features", where, columns.size(), width));
  }
  std::vector<std::vector<std::string>> categories;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = fmt::format("{}: categories of feature {}", where, i);
    const bool texts = find_field(columns[i], "offsets") != nullptr;
    categories.push_back(texts ? read_texts(columns[i], name) : read_numbers(columns[i], name));
  }
  const bool any =
      std::any_of(categories.begin(), categories.end(), [](const auto& c) { return !c.empty(); });
  if (!any) categories.clear();
  return categories;
}

}  // namespace hifi::xgboost
