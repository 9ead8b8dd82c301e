#include "model/lightgbm_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hifi/error.h"

namespace hifi::lightgbm {

namespace {

constexpr std::string_view kSaveHint = "save it again with booster.save_model(\"model.txt\")";

// Cuts the next line off `rest`.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

void add_line(std::string_view line, Lines& lines) {
  const std::size_t equal = line.find('=');
  if (equal == std::string_view::npos) {
    if (!line.empty()) lines.emplace_back(line, "");
  } else {
    lines.emplace_back(line.substr(0, equal), line.substr(equal + 1));
  }
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

const std::string_view* Section::find(std::string_view name) const {
  for (const auto& [key, value] : lines_) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string_view Section::text(std::string_view name) const {
  const std::string_view* value = find(name);
  if (value == nullptr)
    throw input_error(fmt::format("{}: no line \"{}=\"", where_, name), std::string(kSaveHint));
  return *value;
}

std::size_t Section::count(std::string_view name, std::size_t limit) const {
  std::size_t value = 0;
  if (!parse(text(name), value) || value > limit) {
    throw input_error(fmt::format("{}: {} is not an integer from 0 to {}", where_, name, limit));
  }
  return value;
}

template <class T>
std::vector<T> Section::list(std::string_view name) const {
  std::vector<T> values;
  for (const std::string_view part : split(text(name), ' ')) {
    T value{};
    if (!parse(part, value)) {
      throw input_error(fmt::format("{}: number {} of {} is broken", where_, values.size() + 1, name),
                        std::string(kSaveHint));
    }
    values.push_back(value);
  }
  return values;
}

namespace {

template <class T>
std::vector<T> of_size(std::vector<T> values, std::size_t size, std::string_view name,
                       const std::string& where) {
  if (values.size() == size) return values;
  throw input_error(fmt::format("{}: {} has {} numbers, {} expected", where, name, values.size(), size),
                    std::string(kSaveHint));
}

}  // namespace

std::vector<double> Section::numbers(std::string_view name, std::size_t size) const {
  return of_size(list<double>(name), size, name, where_);
}
std::vector<std::int32_t> Section::integers(std::string_view name, std::size_t size) const {
  return of_size(list<std::int32_t>(name), size, name, where_);
}
std::vector<std::uint32_t> Section::words(std::string_view name) const { return list<std::uint32_t>(name); }

Document parse_document(std::string_view content, const std::string& path) {
  constexpr std::string_view kTree = "Tree=";
  constexpr std::string_view kCategorical = "[categorical_feature: ";
  constexpr std::string_view kPandas = "pandas_categorical:";
  std::string_view rest = content;
  Lines lines;
  std::vector<Section> sections;
  bool ended = false;
  const auto finish_section = [&] {
    const std::string where = sections.empty() ? path : fmt::format("{}: tree {}", path, sections.size() - 1);
    sections.emplace_back(where, std::move(lines));
    lines.clear();
  };
  while (!rest.empty() && !ended) {
    const std::string_view line = take_line(rest);
    ended = line == "end of trees";
    if (ended || line.starts_with(kTree)) {
      finish_section();
    } else {
      add_line(line, lines);
    }
  }
  if (!ended) {
    throw input_error(fmt::format("{}: the LightGBM model is cut short: no line \"end of trees\"", path),
                      std::string(kSaveHint));
  }
  Document document{.header = sections.front()};
  document.trees.assign(sections.begin() + 1, sections.end());
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.starts_with(kPandas)) document.pandas_categories = line.substr(kPandas.size());
    if (!line.starts_with(kCategorical)) continue;
    for (std::string_view part : split(line.substr(kCategorical.size()), ',')) {
      if (part.ends_with(']')) part.remove_suffix(1);
      std::uint32_t column = 0;
      if (parse(part, column)) document.categorical.push_back(column);
    }
  }
  return document;
}

}  // namespace hifi::lightgbm
