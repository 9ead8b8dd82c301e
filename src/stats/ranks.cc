#include "stats/ranks.h"

#include <algorithm>
#include <numeric>

namespace hifi {

namespace {

// visit(begin, end) for every group of equal values in sorted order.
template <class Visit>
void for_each_tie(std::span<const double> values, std::vector<std::size_t>& order, Visit visit) {
  order.resize(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    visit(begin, end);
    begin = end;
  }
}

}  // namespace

std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<double> ranks(values.size());
  std::vector<std::size_t> order;
  for_each_tie(values, order, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = static_cast<double>(begin + end + 1) / 2;
  });
  return ranks;
}

double tie_term(std::span<const double> values) {
  double sum = 0;
  std::vector<std::size_t> order;
  for_each_tie(values, order, [&](std::size_t begin, std::size_t end) {
    const auto t = static_cast<double>(end - begin);
    sum += t * t * t - t;
  });
  return sum;
}

}  // namespace hifi
