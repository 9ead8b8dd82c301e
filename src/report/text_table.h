// Tables for the terminal.
#pragma once

#include <string>
#include <vector>

namespace hifi {

// A name cut to a column of a table. Names may come from a stranger's file: control characters are shown, not
// sent.
std::string short_name(const std::string& raw);

// Rows of cells as lines of equal columns; `left` says which columns are left-aligned. Widths are those on
// the screen, colour codes do not count. REQUIRES: a first row, all rows of its length
using TextRows = std::vector<std::vector<std::string>>;
std::string aligned(const TextRows& rows, const std::vector<bool>& left);

}  // namespace hifi
