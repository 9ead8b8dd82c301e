// What a fuzz target is: one parser and what comes right behind it. The driver changes seeds at random; a
// target must answer every input by returning or by throwing hifi::Error.
#pragma once

#include <string>
#include <vector>

namespace hifi::fuzz {

// Defined by each target.
void try_input(const std::string& bytes);
// Seeds that the target makes itself, beside the files on its command line.
std::vector<std::string> own_seeds();

// A file that holds `bytes`, rewritten at every call; for parsers that open a path.
std::string scratch_file(const std::string& bytes, const std::string& suffix);

}  // namespace hifi::fuzz
