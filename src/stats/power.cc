#include "stats/power.h"

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace hifi {

double paired_power(double effect, std::size_t pairs, double alpha, Alternative alternative) {
  const auto df = static_cast<double>(pairs - 1);
  const boost::math::non_central_t t(df, effect * std::sqrt(static_cast<double>(pairs)));
  const double tail = alternative == Alternative::two_sided ? alpha / 2 : alpha;
  const double critical = boost::math::quantile(boost::math::complement(boost::math::students_t(df), tail));
  double power = 0;
  if (alternative != Alternative::less) power += boost::math::cdf(boost::math::complement(t, critical));
  if (alternative != Alternative::greater) power += boost::math::cdf(t, -critical);
  return std::clamp(power, 0.0, 1.0);
}

std::optional<std::size_t> pairs_for_power(double effect, double power, double alpha,
                                           Alternative alternative) {
  std::size_t high = 2;
  while (paired_power(effect, high, alpha, alternative) < power) {
    if (high > 1'000'000) return std::nullopt;
    high *= 2;
  }
  std::size_t low = std::max<std::size_t>(2, high / 2);
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (paired_power(effect, middle, alpha, alternative) < power) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return high;
}

}  // namespace hifi
