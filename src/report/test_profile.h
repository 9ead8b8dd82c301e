// A small profile for tests of the reports.
#pragma once

#include "hifi/profile.h"

namespace hifi {

inline Quantity quantity(double value, std::optional<std::vector<std::uint32_t>> context = std::nullopt) {
  return {.value = value, .plugin = value, .context = std::move(context)};
}

// Two players: `a` with U, R, S and all that follows; `b` with nothing known.
inline Profile test_profile(double u = 0.5, double r = 0.25, double s = 1) {
  Profile profile{.players = {"a", "b"}, .loss = "squared"};
  profile.coverage = {.coalitions = 4, .exhaustive = true, .draws = 12, .exact = true, .threshold = 0.01};
  FeatureProfile a;
  a.U = quantity(u, std::vector<std::uint32_t>{1});
  a.R = quantity(r, std::vector<std::uint32_t>{1});
  a.S = quantity(s, std::vector<std::uint32_t>{1});
  a.pi = quantity(u + r, std::vector<std::uint32_t>{});
  a.Lmax = quantity(u + r + s, std::vector<std::uint32_t>{1});
  a.last = quantity(u, std::vector<std::uint32_t>{1});
  a.gain = {.q05 = 0.1, .q50 = 0.5, .q95 = 0.9};
  a.contexts_seen = 2;
  profile.features = {a, {}};
  PairProfile pair{.first = 0, .second = 1, .contexts_seen = 1};
  pair.S = quantity(0.125, std::vector<std::uint32_t>{});
  pair.R = quantity(0);
  profile.pairs = {pair};
  return profile;
}

}  // namespace hifi
