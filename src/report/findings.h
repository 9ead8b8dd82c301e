// What a profile says, in plain sentences. Numbers smaller than the threshold of the coverage are not worth
// one.
#pragma once

#include <string>
#include <vector>

#include "hifi/profile.h"

namespace hifi {

// `digits` significant digits, without an exponent where a person would write none: 24500, not 2.45e+04.
std::string short_number(double value, int digits);

std::vector<std::string> findings(const Profile& profile);

}  // namespace hifi
