// What a paired t-test can see.
#pragma once

#include <cstddef>
#include <optional>

#include "stats/wilcoxon.h"

namespace hifi {

// The probability that a paired t-test at level alpha rejects when the differences are normal with mean
// `effect` standard deviations. REQUIRES: pairs >= 2, 0 < alpha < 1
double paired_power(double effect, std::size_t pairs, double alpha,
                    Alternative alternative = Alternative::two_sided);

// The fewest pairs that reach the power, up to a million; absent if not even those do.
std::optional<std::size_t> pairs_for_power(double effect, double power, double alpha,
                                           Alternative alternative = Alternative::two_sided);

}  // namespace hifi
