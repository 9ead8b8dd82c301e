// From texts to columns: what is a number, a boolean, missing, or just text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/table.h"

namespace hifi {

enum class TextKind { number, missing, not_a_number, rounded_integer, out_of_range };

struct ParsedText {
  TextKind kind = TextKind::not_a_number;
  double value = 0;  // NaN if missing; the nearest double of a rounded integer
};

// Decimal and exponent notation, "inf" in any case, surrounding blanks ignored. Missing are the
// empty text and the usual words (NA, N/A, NaN, NULL, None, ...). An integer beyond 2^53 is
// `rounded_integer`, a magnitude that no double holds `out_of_range`.
ParsedText parse_number(std::string_view text);

// Gives texts their codes, in order of first appearance.
class TextEncoder {
 public:
  explicit TextEncoder(std::vector<std::string>& dictionary) : dictionary_(dictionary) {}
  // NaN for the empty text: CSV cannot tell it from a missing one, so no format does.
  double code(std::string_view text);

 private:
  std::vector<std::string>& dictionary_;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // to look up a view without making a string of it
  };
  std::unordered_map<std::string, double, Hash, std::equal_to<>> codes_;
};

// A CSV column: numbers if all texts are numbers or missing, booleans if all are true/false or missing,
// else text. In a text column only the empty text is missing: "NA" may be Namibia.
Column column_from_texts(std::string name, const std::vector<std::string_view>& texts, bool keep_as_text,
                         std::size_t first_line);

// "data row 3 (line 4)" for row 2 and first line 2.
std::string row_name(std::size_t row, std::size_t first_line);

// What Column::problem says of a value that a double cannot hold.
std::string value_problem(TextKind kind, std::string_view text, const std::string& place);

// For messages: in quotes, on one line, cut when long.
std::string quoted(std::string_view text);
// The same without quotes.
std::string one_line(std::string_view text, std::size_t limit = 200);

}  // namespace hifi
