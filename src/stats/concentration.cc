#include "stats/concentration.h"

#include <cmath>

namespace hifi {

double hoeffding_radius(double range, double draws, double alpha) {
  return range * std::sqrt(std::log(2 / alpha) / (2 * draws));
}

double bernstein_radius(double variance, double range, double draws, double alpha) {
  const double log = std::log(4 / alpha);  // each side at alpha / 2
  return std::sqrt(2 * variance * log / draws) + 7 * range * log / (3 * (draws - 1));
}

double hoeffding_draws(double range, double radius, double alpha) {
  return std::ceil(range * range * std::log(2 / alpha) / (2 * radius * radius));
}

}  // namespace hifi
