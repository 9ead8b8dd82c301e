// Value and ends of the numbers of a profile, and how they are written into it.
#pragma once

#include <optional>
#include <utility>

#include "decomposition/inference.h"
#include "hifi/profile.h"
#include "stats/extrema.h"

namespace hifi {

inline constexpr std::uint64_t kMultiplierSeed = 0;  // the analysis of a vocabulary has no seed of its own

// One number under one kind of noise; an end is absent where nothing can be said.
struct Bounds {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
};

Bounds negated(const Bounds& b);

struct PlayerBounds {
  std::optional<Bounds> U, R, S, pi, Lmax, last;  // absent: not seen
};

struct PairBounds {
  Bounds S, R;
};

// Standard error of a context in which no draw differed: what a bounded loss could hide there. 0 if it has no
// bound.
double error_floor(const InferenceOptions& options, double units, const MaxInferrer& inferrer);

// A single number by Student's t; without noise it is known.
Bounds single_bounds(const std::optional<MaxInferrer>& inferrer, double value, double error);

// What is to be written: the ends of `interval` if they are usable, the value of `corrected` if there is one,
// and the estimate for the population if the interval is about it. U is capped at pi and Lmax floored at it,
// so that R, S >= 0 and Lmax = U + R + S hold for values as for plug-ins.
template <class Numbers>
struct Findings {
  const Numbers& interval;
  bool usable = false;
  const Numbers* corrected = nullptr;
  bool population = false;
};
void write(FeatureProfile& feature, const Findings<PlayerBounds>& findings);
void write(PairProfile& pair, const Findings<PairBounds>& findings);

}  // namespace hifi
