// Start here: what the library promises.
//
//   hifi::Profile p = hifi::decompose({"a", "b"}, losses);   // losses[mask], bit i = player i
//
// Everything throws hifi::Error (hifi/error.h). Headers outside include/hifi may change at any time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hifi/coalition.h"
#include "hifi/error.h"
#include "hifi/profile.h"

namespace hifi {

std::string version();

// The profile of a complete vocabulary of up to 24 players: the mean loss of every coalition.
// Throws Error(input) if losses.size() is not 2^players or a loss is not finite.
Profile decompose(const std::vector<std::string>& players, std::span<const double> losses);

// The profile as JSON text, schema hifi.profile/1.
std::string to_json(const Profile& profile);

}  // namespace hifi
