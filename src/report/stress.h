// The same audit under several backgrounds: which conclusions survive, which flip.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hifi/profile.h"

namespace hifi {

struct BackgroundProfile {
  std::string background;                  // as the user named it
  std::optional<double> off_distribution;  // of its masked rows: about 1 looks like data
  Profile profile;
};

enum class Outcome {
  survives,   // the same everywhere
  undecided,  // no two contradict each other, but some are unresolved
  flips,
};

struct Conclusion {
  std::vector<std::uint32_t> players;  // one, or a pair
  std::vector<std::string> says;  // by background: a verdict; synergy, redundancy, both, none or unresolved
  Outcome outcome = Outcome::survives;
};

// For every player, then for every pair that is listed under all backgrounds. REQUIRES: the same players
// everywhere
std::vector<Conclusion> conclusions(const std::vector<BackgroundProfile>& profiles);

std::string stress_text(const std::vector<BackgroundProfile>& profiles);
// [{"background":..,"off_distribution":..,"features":[{"player","verdict","U","R","S"}]}] and the
// conclusions.
std::string stress_json(const std::vector<BackgroundProfile>& profiles);

}  // namespace hifi
