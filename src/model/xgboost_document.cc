#include "model/xgboost_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "hifi/error.h"

namespace hifi::xgboost {

namespace {

// An XGBoost file is about ten levels deep. The bound matters because the UBJSON reader recurses.
constexpr std::size_t kMaxDepth = 32;

constexpr std::array<std::string_view, 5> kUnused = {"base_weights", "loss_changes", "sum_hessian", "parents",
                                                     "sorted_idx"};

// Builds a Value from the events of nlohmann's readers.
class Builder {
 public:
  explicit Builder(std::size_t bytes) : values_left_(bytes + 1) {}

  bool null() { return add_number(std::numeric_limits<double>::quiet_NaN()); }
  bool boolean(bool value) { return add_number(value ? 1.0 : 0.0); }
  bool number_integer(std::int64_t value) { return add_number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return add_number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return add_number(value); }
  bool string(std::string& value) {
    Value* place = next_place();
    if (place == nullptr) return false;
    place->content = std::move(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) { return fail("holds binary values"); }
  bool start_object(std::size_t) { return open(Value::Object{}); }
  bool key(std::string& name) {
    // Inside of something dropped nothing is dropped again: there is one place for it.
    dropping_ = std::find(kUnused.begin(), kUnused.end(), name) != kUnused.end() &&
                std::find(open_.begin(), open_.end(), &dropped_) == open_.end();
    if (!dropping_) std::get<Value::Object>(open_.back()->content).push_back({std::move(name), {}});
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(std::monostate{}); }
  bool end_array() {
    // An empty list is both a list of numbers and a list of values; see number_list() and value_list().
    if (std::holds_alternative<std::monostate>(open_.back()->content))
      open_.back()->content = Value::Numbers{};
    return close();
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return fail(fmt::format("is broken near byte {}", position));
  }

  const std::string& problem() const { return problem_; }
  Value take() { return std::move(root_); }

 private:
  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  // UBJSON can announce 2^60 nulls in ten bytes; no honest value takes less than a byte.
  bool spend() { return values_left_-- > 0 || fail("announces more values than it has bytes"); }

  bool add_number(double value) {
    if (!open_.empty() && !std::holds_alternative<Value::Object>(open_.back()->content)) {
      auto& list = open_.back()->content;
      if (std::holds_alternative<std::monostate>(list)) list = Value::Numbers{};
      auto* numbers = std::get_if<Value::Numbers>(&list);
      if (numbers == nullptr) return fail("mixes numbers and other values in a list");
      if (!spend()) return false;
      numbers->push_back(value);
      return true;
    }
    Value* place = next_place();
    if (place == nullptr) return false;
    place->content = value;
    return true;
  }

  // Where the next value goes. Pointers stay valid: a container grows only when its children are closed.
  Value* next_place() {
    if (!spend()) return nullptr;
    if (open_.empty()) return &root_;
    auto& parent = open_.back()->content;
    if (auto* object = std::get_if<Value::Object>(&parent)) {
      return dropping_ ? &dropped_ : &object->back().value;
    }
    if (std::holds_alternative<std::monostate>(parent)) parent = Value::List{};
    auto* list = std::get_if<Value::List>(&parent);
    if (list == nullptr) {
      fail("mixes numbers and other values in a list");
      return nullptr;
    }
    list->emplace_back();
    return &list->back();
  }

  template <typename Content>
  bool open(Content content) {
    if (open_.size() == kMaxDepth) return fail("is nested too deeply");
    Value* place = next_place();
    if (place == nullptr) return false;
    place->content = std::move(content);
    open_.push_back(place);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Value root_;
  Value dropped_;
  bool dropping_ = false;
  std::vector<Value*> open_;
  std::size_t values_left_;
  std::string problem_;
};

// XGBoost before 3.0 writes NaN as the threshold of a categorical split, and its JSON may hold Infinity:
// neither is JSON. NaN becomes null; Infinity a number that is infinite as a float. Outside of texts no
// JSON word has a capital N or I.
std::string without_special_numbers(std::string_view content) {
  std::string out;
  out.reserve(content.size() + 16);
  bool in_text = false;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const char c = content[i];
    if (in_text && c == '\\' && i + 1 < content.size()) {
      out.append(content.substr(i++, 2));
    } else if (!in_text && content.substr(i).starts_with("NaN")) {
      out.append("null");
      i += 2;
    } else if (!in_text && content.substr(i).starts_with("Infinity")) {
      out.append("1e300");
      i += 7;
    } else {
      in_text = in_text != (c == '"');
      out.push_back(c);
    }
  }
  return out;
}

[[noreturn]] void fail_field(const std::string& where, std::string_view name, std::string_view problem) {
  throw input_error(fmt::format("{}: field \"{}\" {}", where, name, problem));
}

}  // namespace

Encoding encoding_of(std::string_view content) {
  constexpr std::string_view kLengthTypes = "LlIiU$#";
  const bool typed = content.size() > 1 && kLengthTypes.find(content[1]) != std::string_view::npos;
  return content.starts_with('{') && typed ? Encoding::ubj : Encoding::json;
}

Value parse_document(std::string_view content, Encoding encoding, const std::string& where) {
  Builder builder(content.size());
  bool complete = false;
  if (encoding == Encoding::ubj) {
    complete = nlohmann::json::sax_parse(content, &builder, nlohmann::json::input_format_t::ubjson);
  } else if (content.find("NaN") != std::string_view::npos ||
             content.find("Infinity") != std::string_view::npos) {
    complete = nlohmann::json::sax_parse(without_special_numbers(content), &builder);
  } else {
    complete = nlohmann::json::sax_parse(content, &builder);
  }
  if (!complete) {
    throw input_error(fmt::format("{}: the {} {}", where, encoding == Encoding::ubj ? "UBJSON" : "JSON",
                                  builder.problem().empty() ? "is broken" : builder.problem()),
                      "the file may be cut short; save it again with booster.save_model(\"model.json\")");
  }
  return builder.take();
}

const Value* find_field(const Value& object, std::string_view name) {
  if (const auto* fields = std::get_if<Value::Object>(&object.content)) {
    for (const auto& candidate : *fields) {
      if (candidate.name == name) return &candidate.value;
    }
  }
  return nullptr;
}

const Value& field(const Value& object, std::string_view name, const std::string& where) {
  const Value* value = find_field(object, name);
  if (value == nullptr) throw input_error(fmt::format("{}: no field \"{}\"", where, name));
  return *value;
}

const std::string& text_field(const Value& object, std::string_view name, const std::string& where) {
  const auto* text = std::get_if<std::string>(&field(object, name, where).content);
  if (text == nullptr) fail_field(where, name, "is not a text");
  return *text;
}

std::span<const double> number_list(const Value& object, std::string_view name, const std::string& where) {
  const auto* numbers = std::get_if<Value::Numbers>(&field(object, name, where).content);
  if (numbers == nullptr) fail_field(where, name, "is not a list of numbers");
  return *numbers;
}

std::span<const Value> value_list(const Value& object, std::string_view name, const std::string& where) {
  const Value& value = field(object, name, where);
  if (const auto* numbers = std::get_if<Value::Numbers>(&value.content); numbers && numbers->empty())
    return {};
  const auto* list = std::get_if<Value::List>(&value.content);
  if (list == nullptr) fail_field(where, name, "is not a list of texts or objects");
  return *list;
}

std::size_t count_field(const Value& object, std::string_view name, std::size_t limit,
                        const std::string& where) {
  const std::string& text = text_field(object, name, where);
  std::size_t count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (code != std::errc{} || end != text.data() + text.size() || count > limit) {
    fail_field(where, name, fmt::format("is not an integer from 0 to {}", limit));
  }
  return count;
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

}  // namespace hifi::xgboost
