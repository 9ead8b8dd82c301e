// What can be said of CSV text before and after a parser has seen it.
//
// RFC 4180: fields end at commas, a field that starts with a quote runs to the closing quote and may
// hold commas, newlines and doubled quotes. Rows end at LF, CRLF or CR; blank lines are no rows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hifi {

// Throws Error(input) naming line and field for text that must not reach the parser: NUL bytes, other
// encodings than UTF-8, another separator than the comma, no header at all, a quote that is never
// closed (Arrow would swallow the rest of the file as one value).
void check_csv_text(const std::string& path, std::string_view text);

// Throws Error(input) naming the line of the first row whose number of fields is not the header's;
// returns if there is none.
void check_csv_widths(const std::string& path, std::string_view text);

// The line of data row 1 if data row k is at that line + k - 1 for all `rows`, else 0: blank lines
// and newlines within quotes break the count.
std::size_t csv_first_line(std::string_view text, std::size_t rows);

}  // namespace hifi
