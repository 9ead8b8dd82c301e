#include "data/text_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace hifi {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kExactIntegers = std::uint64_t{1} << 53;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// What pandas and Arrow take for missing.
bool is_missing_word(std::string_view text) {
  constexpr std::array<std::string_view, 19> kWords{
      "",     "NA",   "N/A",  "n/a",  "#N/A", "#NA",    "#N/A N/A", "<NA>",    "NaN",     "nan",
      "-NaN", "-nan", "NULL", "null", "None", "1.#IND", "-1.#IND",  "1.#QNAN", "-1.#QNAN"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

bool is_infinity(std::string_view unsigned_text) {
  std::string lower(unsigned_text.substr(0, 9));
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower == "inf" || (lower == "infinity" && unsigned_text.size() == 8);
}

// Integers of up to 15 digits are exact.
bool is_rounded_integer(std::string_view unsigned_text) {
  if (unsigned_text.size() <= 15 || !std::all_of(unsigned_text.begin(), unsigned_text.end(), is_digit))
    return false;
  std::uint64_t value = 0;
  const auto result =
      std::from_chars(unsigned_text.data(), unsigned_text.data() + unsigned_text.size(), value);
  return result.ec != std::errc() || value > kExactIntegers;
}

// 1 or 0, or -1 if it is no boolean.
int boolean_value(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return 1;
  if (text == "false" || text == "False" || text == "FALSE") return 0;
  return -1;
}

bool read_numbers(const std::vector<std::string_view>& texts, std::size_t first_line, Column& column) {
  column.values.resize(texts.size());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const ParsedText parsed = parse_number(texts[row]);
    if (parsed.kind == TextKind::not_a_number) {
      column.problem.clear();
      return false;
    }
    column.values[row] = parsed.value;
    const bool held = parsed.kind == TextKind::number || parsed.kind == TextKind::missing;
    if (!held && column.problem.empty()) {
      column.problem = value_problem(parsed.kind, trim(texts[row]), row_name(row, first_line));
    }
  }
  return true;
}

bool read_booleans(const std::vector<std::string_view>& texts, Column& column) {
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const std::string_view text = trim(texts[row]);
    const int value = boolean_value(text);
    if (value < 0 && !is_missing_word(text)) return false;
    column.values[row] = value < 0 ? kMissing : value;
  }
  column.type = ColumnType::boolean;
  return true;
}

}  // namespace

ParsedText parse_number(std::string_view text) {
  text = trim(text);
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative || (!digits.empty() && digits.front() == '+')) digits.remove_prefix(1);
  if (!digits.empty() && (is_digit(digits.front()) || digits.front() == '.')) {
    double value = 0;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value);
    if (result.ptr == end && result.ec == std::errc::result_out_of_range)
      return {TextKind::out_of_range, kMissing};
    if (result.ptr == end && result.ec == std::errc()) {
      const TextKind kind = is_rounded_integer(digits) ? TextKind::rounded_integer : TextKind::number;
      return {kind, negative ? -value : value};
    }
  }
  if (is_missing_word(text)) return {TextKind::missing, kMissing};
  if (is_infinity(digits)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {TextKind::number, negative ? -kInfinity : kInfinity};
  }
  return {};
}

double TextEncoder::code(std::string_view text) {
  if (text.empty()) return kMissing;
  const auto found = codes_.find(text);
  if (found != codes_.end()) return found->second;
  const auto code = static_cast<double>(dictionary_.size());
  codes_.emplace(text, code);
  dictionary_.emplace_back(text);
  return code;
}

Column column_from_texts(std::string name, const std::vector<std::string_view>& texts, bool keep_as_text,
                         std::size_t first_line) {
  Column column{.name = std::move(name)};
  if (!keep_as_text && (read_numbers(texts, first_line, column) || read_booleans(texts, column)))
    return column;
  column.type = ColumnType::text;
  column.values.resize(texts.size());
  TextEncoder encoder(column.dictionary);
  std::transform(texts.begin(), texts.end(), column.values.begin(),
                 [&](std::string_view text) { return encoder.code(text); });
  return column;
}

std::string row_name(std::size_t row, std::size_t first_line) {
  if (first_line == 0) return fmt::format("data row {}", row + 1);
  return fmt::format("data row {} (line {})", row + 1, first_line + row);
}

std::string value_problem(TextKind kind, std::string_view text, const std::string& place) {
  const std::string_view reason = kind == TextKind::rounded_integer
                                      ? "an integer beyond 2^53 would be rounded"
                                      : "it is out of the range of a double";
  return fmt::format("holds {} in {}: {}", one_line(text, 60), place, reason);
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Cut before a character, not within its UTF-8 sequence.
    if (i >= limit && (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return line + "...";
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    };
    const bool second_set = byte(i) == 0xC2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xA0;  // U+0080 to U+009F
    if (second_set) ++i;
    line += second_set || byte(i) < 32 || byte(i) == 127 ? ' ' : text[i];
  }
  return line;
}

std::string quoted(std::string_view text) { return '"' + one_line(text, 60) + '"'; }

}  // namespace hifi
