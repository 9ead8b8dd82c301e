// What a precision would take: the draws that the paper's theorem 4 asks, and what a pilot lets expect.
//
// The pilot informs the reader, never the plan of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/audit.h"

namespace hifi {

struct PrecisionPlan {
  double width = 0;                       // of the widest interval of U, R, S, Lmax, absolute
  std::optional<double> hoeffding_draws;  // per coalition; absent if the loss has no bound
  std::optional<double> expected_draws;   // absent without a pilot, or if it left an interval open
  std::optional<double> pilot_width;      // widest interval of the pilot
  std::uint64_t pilot_draws = 0;          // 0: no pilot was made
};

// Theorem 4: Hoeffding for all coalitions at once; an interval of R or S is 8 radii long.
double theorem4_draws(double loss_range, std::size_t players, double width, double alpha);

// `audit` is that of the request, which has a precision. The pilot is made if it is short.
PrecisionPlan plan_precision(const Audit& audit, const ExplainRequest& request, Workers& workers);

}  // namespace hifi
