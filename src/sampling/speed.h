// How fast a game is, for runs that are given a time instead of a budget.
#pragma once

#include <string>

#include "core/parallel.h"
#include "game/draws.h"
#include "game/game.h"

namespace hifi {

// (coalition, draw) evaluations per second, from a probe of at most about `seconds` and, but for the first draw,
// `evaluations`. A whole lattice is timed up to 16 players, and beyond if the game knows lattices (up to 24);
// else single coalitions.
struct ProbeLimit {
  double seconds = 0;
  std::uint64_t evaluations = std::uint64_t{1} << 24;
};
double evaluations_per_second(Game& game, DrawOptions options, bool knows_lattices, const ProbeLimit& limit,
                              Workers& workers);

// "90", "30s", "5m", "2h" to seconds. Throws Error(usage) naming --time.
double parse_time(const std::string& text);

}  // namespace hifi
