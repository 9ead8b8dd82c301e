// `hifi.profile/1`: the profile as JSON and as CSV.
#pragma once

#include <string>

#include "hifi/profile.h"

namespace hifi {

// Indented; numbers read back to the same double; an absent value is null.
std::string profile_json(const Profile& profile);

struct ProfileCsv {
  std::string features;  // one row per player
  std::string pairs;     // one row per pair
};

// The same fields, flattened: `U.value`, `U.low`, ..; lists joined by `;`, null empty.
ProfileCsv profile_csv(const Profile& profile);

// 2^exponent as decimal digits.
std::string power_of_two(std::size_t exponent);

}  // namespace hifi
