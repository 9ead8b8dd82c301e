// Files that come with the program, such as small models.
#pragma once

#include <string>

namespace hifi {

// The path of share/hifi/NAME beside the core (build tree) or above it (installed: lib/ and lib/TRIPLET/
// stand beside share/). Throws Error(input) naming it if it is in none of these places.
std::string shared_file(const std::string& name);

}  // namespace hifi
