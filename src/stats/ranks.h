// Ranks with ties.
#pragma once

#include <span>
#include <vector>

namespace hifi {

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> mid_ranks(std::span<const double> values);

// Sum over groups of equal values of t^3 - t, t their number: what ties take from a variance of ranks.
double tie_term(std::span<const double> values);

}  // namespace hifi
