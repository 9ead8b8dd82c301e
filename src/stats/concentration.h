// Bounds on the error of a mean of independent bounded numbers: conservative, for any distribution.
#pragma once

#include <cstdint>

namespace hifi {

// |mean - truth| <= radius with probability 1 - alpha, for `draws` independent numbers of this range
// (largest minus smallest possible). Hoeffding 1963, doi 10.1080/01621459.1963.10500830.
double hoeffding_radius(double range, double draws, double alpha);

// The same from the sample variance (denominator draws - 1): Maurer and Pontil 2009, theorem 4
// (arXiv 0907.3740), both sides. REQUIRES: draws >= 2
double bernstein_radius(double variance, double range, double draws, double alpha);

// The draws that Hoeffding asks for this radius.
double hoeffding_draws(double range, double radius, double alpha);

}  // namespace hifi
