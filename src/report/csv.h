#pragma once

#include <string>

namespace hifi {

// A field of a CSV file: in quotes if it needs them.
std::string csv_quoted(const std::string& text);

}  // namespace hifi
