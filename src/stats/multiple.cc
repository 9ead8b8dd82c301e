#include "stats/multiple.h"

#include <algorithm>
#include <numeric>

namespace hifi {

std::vector<double> bonferroni(std::span<const double> p) {
  std::vector<double> adjusted(p.begin(), p.end());
  for (double& x : adjusted) x = std::min(1.0, x * static_cast<double>(p.size()));
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    before = std::max(before, std::min(1.0, p[order[k]] * static_cast<double>(p.size() - k)));
    adjusted[order[k]] = before;
  }
  return adjusted;
}

}  // namespace hifi
