// From intervals to words a reader can act on.
#pragma once

#include <vector>

#include "hifi/profile.h"

namespace hifi {

// What is smaller than 1 % of the range of losses seen is not worth a verdict.
inline constexpr double kThresholdShare = 0.01;

struct VerdictOptions {
  double threshold = 0;   // e
  double loss_scale = 0;  // max |L|
  bool flat = false;      // all losses are equal: everyone is negligible
  // A table without variances is taken as exact: verdicts as with intervals of zero width, which are not
  // written.
  bool values_are_exact = false;
};

// Sets verdict and hurts_in_context of each player, and `resolved` of each number.
void judge(std::vector<FeatureProfile>& features, std::vector<PairProfile>& pairs,
           const VerdictOptions& options);

// Sets `resolved` alone: the interval does not straddle the threshold (0 for U, pi and last).
void resolve(std::vector<FeatureProfile>& features, std::vector<PairProfile>& pairs, double threshold);

// The candidates among unique, redundant and synergistic, largest first; the first is the verdict.
std::vector<const char*> candidates(const FeatureProfile& feature, const VerdictOptions& options);

}  // namespace hifi
