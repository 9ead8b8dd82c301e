#include "stats/correlation.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "stats/ranks.h"

namespace hifi {

namespace {

double mean(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double two_sided_p(double r, std::size_t n) {
  if (n < 3) return 1;
  const auto df = static_cast<double>(n - 2);
  if (1 - r * r <= 0) return 0;
  const double t = std::abs(r) * std::sqrt(df / (1 - r * r));
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(df), t));
}

}  // namespace

std::optional<Correlation> pearson(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2) return std::nullopt;
  const auto constant = [](std::span<const double> list) {
    return std::all_of(list.begin(), list.end(), [&](double value) { return value == list.front(); });
  };
  if (constant(x) || constant(y)) return std::nullopt;
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - mean_x) * (x[k] - mean_x);
    yy += (y[k] - mean_y) * (y[k] - mean_y);
    xy += (x[k] - mean_x) * (y[k] - mean_y);
  }
  const double r = std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
  return Correlation{r, two_sided_p(r, x.size())};
}

std::optional<Correlation> spearman(std::span<const double> x, std::span<const double> y) {
  return pearson(mid_ranks(x), mid_ranks(y));
}

std::optional<double> spearman_ceiling(std::span<const double> truth) {
  const auto n = static_cast<double>(truth.size());
  if (truth.size() < 2) return std::nullopt;
  const double share = 1 - tie_term(truth) / (n * n * n - n);
  if (share <= 0) return std::nullopt;
  return std::sqrt(share);
}

}  // namespace hifi
