#include "stats/wilcoxon.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

#include "stats/ranks.h"

namespace hifi {

namespace {

constexpr std::size_t kMostExact = 50;

// P(sum of the ranks that got a plus = k/2) for all k: ranks are multiples of 1/2.
std::vector<double> sign_distribution(const std::vector<double>& ranks) {
  std::vector<double> p = {1};
  for (const double rank : ranks) {
    const auto step = static_cast<std::size_t>(std::lround(2 * rank));
    std::vector<double> next(p.size() + step, 0.0);
    for (std::size_t k = 0; k < p.size(); ++k) {
      next[k] += p[k] / 2;
      next[k + step] += p[k] / 2;
    }
    p = std::move(next);
  }
  return p;
}

double exact_p(const std::vector<double>& ranks, double plus, Alternative alternative) {
  const std::vector<double> p = sign_distribution(ranks);
  const auto seen = static_cast<std::size_t>(std::lround(2 * plus));
  double at_most = 0;
  double at_least = 0;
  for (std::size_t k = 0; k <= seen; ++k) at_most += p[k];
  for (std::size_t k = p.size(); k-- > seen;) at_least += p[k];
  if (alternative == Alternative::greater) return std::min(1.0, at_least);
  if (alternative == Alternative::less) return std::min(1.0, at_most);
  return std::min(1.0, 2 * std::min(at_most, at_least));
}

double normal_p(const std::vector<double>& ranks, double plus, Alternative alternative) {
  double mean = 0;
  double variance = 0;  // of a sum of ranks with random signs, ties included
  for (const double rank : ranks) {
    mean += rank / 2;
    variance += rank * rank / 4;
  }
  const double z = (plus - mean) / std::sqrt(variance);
  const boost::math::normal normal;
  const auto above = [&](double x) { return boost::math::cdf(boost::math::complement(normal, x)); };
  if (alternative == Alternative::greater) return above(z);
  if (alternative == Alternative::less) return above(-z);
  return std::min(1.0, 2 * above(std::abs(z)));
}

}  // namespace

std::optional<WilcoxonResult> wilcoxon(std::span<const double> differences, const WilcoxonOptions& options) {
  std::vector<double> kept;
  for (const double d : differences)
    if (d != 0 || options.zeros == Zeros::pratt) kept.push_back(d);
  std::vector<double> sizes(kept.size());
  std::transform(kept.begin(), kept.end(), sizes.begin(), [](double d) { return std::abs(d); });
  const std::vector<double> all_ranks = mid_ranks(sizes);
  WilcoxonResult result;
  std::vector<double> ranks;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (kept[k] == 0) continue;
    ranks.push_back(all_ranks[k]);
    (kept[k] > 0 ? result.plus : result.minus) += all_ranks[k];
  }
  if (ranks.empty()) return std::nullopt;
  result.used = ranks.size();
  result.exact = options.method == TestMethod::exact ||
                 (options.method == TestMethod::automatic && ranks.size() <= kMostExact);
  result.p = result.exact ? exact_p(ranks, result.plus, options.alternative)
                          : normal_p(ranks, result.plus, options.alternative);
  return result;
}

namespace {

// The largest number of Walsh averages that may be cut off at one end: P(W+ < cut) <= tail. For untied ranks,
// as the theory of the interval has it.
std::size_t cut_off(std::size_t n, double tail) {
  std::vector<double> ranks(n);
  for (std::size_t k = 0; k < n; ++k) ranks[k] = static_cast<double>(k + 1);
  if (n > kMostExact) {
    const auto m = static_cast<double>(n);
    const double z = boost::math::quantile(boost::math::normal(), tail);
    const double cut = m * (m + 1) / 4 + z * std::sqrt(m * (m + 1) * (2 * m + 1) / 24);
    return static_cast<std::size_t>(std::max(0.0, std::floor(cut) + 1));
  }
  const std::vector<double> p = sign_distribution(ranks);
  double below = 0;
  std::size_t cut = 0;
  while (2 * cut < p.size()) {
    below += p[2 * cut];  // whole ranks: only even places are filled
    if (below > tail) break;
    ++cut;
  }
  return cut;
}

}  // namespace

std::optional<Shift> hodges_lehmann(std::span<const double> differences, double confidence) {
  const std::size_t n = differences.size();
  if (n == 0) return std::nullopt;
  std::vector<double> walsh;
  walsh.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) walsh.push_back((differences[i] + differences[j]) / 2);
  std::sort(walsh.begin(), walsh.end());
  const std::size_t m = walsh.size();
  Shift shift{.estimate = m % 2 == 1 ? walsh[m / 2] : (walsh[m / 2 - 1] + walsh[m / 2]) / 2};
  const std::size_t cut = cut_off(n, (1 - confidence) / 2);
  if (cut == 0) return shift;
  shift.low = walsh[cut - 1];
  shift.high = walsh[m - cut];
  return shift;
}

}  // namespace hifi
