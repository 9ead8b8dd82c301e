// The profile as text for a person: a table with bars, then a plain sentence per finding.
#pragma once

#include <cstddef>
#include <string>

#include "hifi/profile.h"

namespace hifi {

struct TerminalOptions {
  bool colour = false;
  std::size_t max_players = 30;
  std::size_t max_pairs = 8;
};

std::string profile_text(const Profile& profile, const TerminalOptions& options = {});

}  // namespace hifi
