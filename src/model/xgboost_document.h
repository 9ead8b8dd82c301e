// The content of a model file as a tree of values, whether it was written as JSON or as UBJSON.
//
// Lists of numbers are kept flat, since a large model is almost nothing else. What prediction does not
// need (gains, covers, parents) is dropped while reading. Every accessor throws Error(input) that begins
// with `where`, so a broken file is reported by the place that is broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hifi::xgboost {

struct Field;

struct Value {
  using Numbers = std::vector<double>;
  using List = std::vector<Value>;
  using Object = std::vector<Field>;
  std::variant<std::monostate, double, std::string, Numbers, List, Object> content;
};

struct Field {
  std::string name;
  Value value;
};

enum class Encoding { json, ubj };

// UBJSON puts the type of a key's length behind the opening brace, where JSON has a quote or white space.
Encoding encoding_of(std::string_view content);

Value parse_document(std::string_view content, Encoding encoding, const std::string& where);

// nullptr if `object` has no such field.
const Value* find_field(const Value& object, std::string_view name);
const Value& field(const Value& object, std::string_view name, const std::string& where);
const std::string& text_field(const Value& object, std::string_view name, const std::string& where);
// A list of numbers; true and false count as 1 and 0, null as NaN.
std::span<const double> number_list(const Value& object, std::string_view name, const std::string& where);
// A list of anything but numbers.
std::span<const Value> value_list(const Value& object, std::string_view name, const std::string& where);
// XGBoost writes its parameters as text ("num_class": "3"). Throws unless it is an integer in [0, limit].
std::size_t count_field(const Value& object, std::string_view name, std::size_t limit,
                        const std::string& where);

// A text of the file for a message of one line: short, without control characters.
std::string shown(std::string_view text);

}  // namespace hifi::xgboost
