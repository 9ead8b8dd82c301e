#include "report/text_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "data/text_column.h"

namespace hifi {

namespace {

constexpr std::size_t kNameWidth = 22;

// Columns of a character: 2 for the scripts of East Asia and most emoji, 0 for marks that combine with the
// one before.
std::size_t columns_of(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kWide[] = {
      {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
      {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD},
  };
  if (c >= 0x300 && c <= 0x36F) return 0;
  const bool wide = std::any_of(std::begin(kWide), std::end(kWide),
                                [c](auto range) { return range.first <= c && c <= range.second; });
  return wide ? 2 : 1;
}

// The UTF-8 character at `at`, which moves behind it.
char32_t next_character(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  char32_t c = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
    c = (c << 6) | (static_cast<unsigned char>(text[at++]) & 0x3F);
  }
  return c;
}

// Columns on the screen, not bytes; colour codes do not count.
std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  bool colour = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if (c == '\x1b') colour = true;
    if (!colour) columns += columns_of(c);
    if (c == 'm') colour = false;
  }
  return columns;
}

}  // namespace

std::string short_name(const std::string& raw) {
  const std::string name = one_line(raw);
  if (display_width(name) <= kNameWidth) return name;
  std::size_t columns = 0;
  std::size_t end = 0;
  for (std::size_t at = 0; at < name.size();) {
    columns += columns_of(next_character(name, at));
    if (columns >= kNameWidth) break;
    end = at;
  }
  return name.substr(0, end) + "…";
}

std::string aligned(const TextRows& rows, const std::vector<bool>& left) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], display_width(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap(width[c] - display_width(row[c]), ' ');
      line += " " + (left[c] ? row[c] + gap : gap + row[c]) + " ";
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace hifi
