#include "data/csv_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "hifi/error.h"

namespace hifi {

namespace {

struct CsvRow {
  std::size_t line = 0;  // where it starts, from 1
  std::size_t fields = 0;
  std::size_t open_quote = 0;  // line of a quote that is still open at the end of the text, or 0
};

class RowScanner {
 public:
  explicit RowScanner(std::string_view text) : text_(text) {}

  std::optional<CsvRow> next() {
    while (at_ < text_.size() && is_end(text_[at_])) end_line();
    if (at_ == text_.size()) return std::nullopt;
    CsvRow row{.line = line_, .fields = 1};
    while (true) {
      if (at_ < text_.size() && text_[at_] == '"') row.open_quote = skip_quoted();
      while (at_ < text_.size() && text_[at_] != ',' && !is_end(text_[at_])) ++at_;
      if (at_ == text_.size()) return row;
      if (is_end(text_[at_])) {
        end_line();
        return row;
      }
      ++row.fields;
      ++at_;
    }
  }

 private:
  static bool is_end(char c) { return c == '\n' || c == '\r'; }

  void end_line() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
  }

  // From the opening quote to behind the closing one; the line of a quote that does not close, or 0.
  std::size_t skip_quoted() {
    const std::size_t start = line_;
    ++at_;
    while (at_ < text_.size()) {
      if (is_end(text_[at_])) {
        end_line();
      } else if (text_[at_] != '"') {
        ++at_;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        at_ += 2;
      } else {
        ++at_;
        return 0;
      }
    }
    return start;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

// LF, CRLF or CR.
std::size_t line_ends(std::string_view text) {
  auto ends = std::count(text.begin(), text.end(), '\n');
  for (std::size_t i = text.find('\r'); i != std::string_view::npos; i = text.find('\r', i + 1)) {
    ends += i + 1 == text.size() || text[i + 1] != '\n';
  }
  return static_cast<std::size_t>(ends);
}

// "line 4, field 2" of the byte at `offset`.
std::string place_of(std::string_view text, std::size_t offset) {
  RowScanner scanner(text.substr(0, offset));
  CsvRow last{.line = 1, .fields = 1};
  while (const auto row = scanner.next()) last = *row;
  const bool new_row =
      offset > 0 && last.open_quote == 0 && (text[offset - 1] == '\n' || text[offset - 1] == '\r');
  const std::size_t field = new_row ? 1 : last.fields;
  return fmt::format("line {}, field {}", line_ends(text.substr(0, offset)) + 1, field);
}

// Length of the UTF-8 sequence at the start of `text`, 0 if it is none (RFC 3629: no surrogates, no
// longer forms than needed, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !follows(1)) return 0;
  if (first < 0xE0) return 2;
  if (!follows(2)) return 0;
  if (first < 0xF0) {
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
    return 3;
  }
  if (!follows(3) || (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
  return 4;
}

// Offset of the first byte that is not UTF-8, or npos.
std::size_t invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t word = 0;
    // Most files are ASCII: eight bytes at a time.
    while (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080U) != 0) break;
      at += sizeof word;
    }
    if (at == text.size()) break;
    const std::size_t length = utf8_length(text.substr(at, 4));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

void check_encoding(const std::string& path, std::string_view text) {
  constexpr std::string_view kHint = "save the file as UTF-8 text";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw input_error(path + ": is UTF-16 text, not UTF-8", std::string(kHint));
  }
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw input_error(fmt::format("{}: {} holds a NUL byte", path, place_of(text, nul)),
                      "is it a text file? CSV, Parquet and Feather are supported");
  }
  const std::size_t invalid = invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    throw input_error(fmt::format("{}: {} is not valid UTF-8", path, place_of(text, invalid)),
                      std::string(kHint));
  }
}

void check_separator(const std::string& path, std::string_view text) {
  const std::size_t start = text.find_first_not_of("\r\n");
  const std::string_view header = text.substr(start, text.find_first_of("\r\n", start) - start);
  if (header.find(',') != std::string_view::npos) return;
  for (const auto& [separator, name] : {std::pair{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}}) {
    if (header.find(separator) != std::string_view::npos) {
      throw input_error(fmt::format("{}: the columns seem to be separated by {}", path, name),
                        "the separator must be a comma");
    }
  }
}

}  // namespace

void check_csv_text(const std::string& path, std::string_view text) {
  check_encoding(path, text);
  if (text.find_first_not_of("\r\n") == std::string_view::npos) {
    throw input_error(path + ": the file has no header line");
  }
  check_separator(path, text);
  if (text.find('"') == std::string_view::npos) return;
  RowScanner scanner(text);
  while (const auto row = scanner.next()) {
    if (row->open_quote != 0) {
      throw input_error(fmt::format("{}: line {} opens a quote that is never closed", path, row->open_quote));
    }
  }
}

void check_csv_widths(const std::string& path, std::string_view text) {
  RowScanner scanner(text);
  const auto header = scanner.next();
  while (const auto row = scanner.next()) {
    if (row->fields == header->fields) continue;
    throw input_error(fmt::format("{}: line {} has {} field{}, the header has {}", path, row->line,
                                  row->fields, row->fields == 1 ? "" : "s", header->fields));
  }
}

std::size_t csv_first_line(std::string_view text, std::size_t rows) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  // Whatever breaks the count adds lines, so equality means that nothing did.
  return line_ends(text) == rows ? 2 : 0;
}

}  // namespace hifi
