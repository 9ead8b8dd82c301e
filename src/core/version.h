#pragma once

#include <string>

namespace hifi {

std::string version();

}  // namespace hifi
