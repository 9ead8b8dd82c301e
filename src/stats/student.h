// Quantiles that the intervals need.
#pragma once

namespace hifi {

// Student's t with `df` degrees of freedom. REQUIRES: 0 < p < 1, df >= 1
double t_quantile(double p, double df);

}  // namespace hifi
