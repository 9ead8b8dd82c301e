#include "indices/weights.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

namespace hifi {

namespace {

using Rational = boost::multiprecision::cpp_rational;
using Table = std::vector<std::vector<Rational>>;

Rational choose(std::size_t n, std::size_t k) {
  if (k > n) return 0;
  Rational result = 1;
  for (std::size_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

int sign(std::size_t exponent) { return exponent % 2 == 0 ? 1 : -1; }

// B_0 .. B_count with B_1 = -1/2.
std::vector<Rational> bernoulli(std::size_t count) {
  std::vector<Rational> b = {1};
  for (std::size_t m = 1; m <= count; ++m) {
    Rational sum = 0;
    for (std::size_t j = 0; j < m; ++j) sum += choose(m + 1, j) * b[j];
    b.push_back(-sum / (m + 1));
  }
  return b;
}

Rational faithful(std::size_t order, std::size_t s, std::size_t t) {
  if (t <= order) return s == t ? 1 : 0;
  return sign(order - s) * Rational(s, order + s) * choose(order, s) * choose(t - 1, order) /
         choose(t + order - 1, order + s);
}

Rational coefficient(IndexKind kind, std::size_t order, std::size_t s, std::size_t t,
                     const std::vector<Rational>& numbers) {
  Rational sum = 0;
  switch (kind) {
    case IndexKind::moebius:
      return s == t ? 1 : 0;
    case IndexKind::shapley:
    case IndexKind::shapley_interaction:
      return Rational(1, t - s + 1);
    case IndexKind::banzhaf:
      return 1 / Rational(boost::multiprecision::cpp_int(1) << (t - s));
    case IndexKind::k_shapley:
      for (std::size_t j = 0; j <= std::min(order, t) - s; ++j)
        sum += numbers[j] * choose(t - s, j) / (t - s - j + 1);
      return sum;
    case IndexKind::shapley_taylor:
      if (s < order) return s == t ? 1 : 0;
      return 1 / choose(t, order);
    case IndexKind::faithful:
      return faithful(order, s, t);
    case IndexKind::k_additive:
      for (std::size_t u = s; u <= std::min(order, t); ++u)
        sum += choose(t - s, u - s) / (u - s + 1) * faithful(order, u, t);
      return sum;
  }
  return 0;
}

Table coefficients(IndexKind kind, std::size_t players, std::size_t order) {
  const std::vector<Rational> numbers = bernoulli(order);
  Table c(order + 1, std::vector<Rational>(players + 1));
  for (std::size_t s = 1; s <= order; ++s) {
    for (std::size_t t = s; t <= players; ++t) c[s][t] = coefficient(kind, order, s, t, numbers);
  }
  return c;
}

std::size_t own_order(IndexKind kind, std::size_t order) { return kind == IndexKind::shapley ? 1 : order; }

}  // namespace

IndexWeights index_weights(IndexKind kind, std::size_t players, std::size_t order) {
  order = own_order(kind, order);
  const Table c = coefficients(kind, players, order);
  IndexWeights weights{.players = players, .order = order};
  weights.by_size.assign(order + 1, std::vector<double>(players + 1, 0.0));
  for (std::size_t s = 1; s <= order; ++s) {
    for (std::size_t u = s; u <= players; ++u) {
      Rational sum = 0;
      for (std::size_t t = u; t <= players; ++t) sum += sign(t) * choose(players - u, t - u) * c[s][t];
      weights.by_size[s][u] = static_cast<double>(sum);
    }
  }
  return weights;
}

double IndexWeights::absolute_sum(std::size_t size) const {
  double sum = 0;
  for (std::size_t u = size; u <= players; ++u) {
    sum += std::abs(by_size[size][u]) * static_cast<double>(choose(players - size, u - size));
  }
  return std::ldexp(sum, static_cast<int>(size));
}

std::vector<std::vector<double>> moebius_coefficients(IndexKind kind, std::size_t players,
                                                      std::size_t order) {
  const Table c = coefficients(kind, players, own_order(kind, order));
  std::vector<std::vector<double>> result(c.size());
  for (std::size_t s = 0; s < c.size(); ++s) {
    for (const Rational& x : c[s]) result[s].push_back(static_cast<double>(x));
  }
  return result;
}

}  // namespace hifi
