// What a profile says, in plain sentences. Numbers smaller than the threshold of the coverage are not worth
// one.
#pragma once

#include <string>
#include <vector>

#include "hifi/profile.h"

namespace hifi {

std::vector<std::string> findings(const Profile& profile);

}  // namespace hifi
