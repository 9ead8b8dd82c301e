// Theorem 4: with K >= B^2 / (2 eps^2) log(2 |V| / alpha) draws per coalition all means are within eps of the
// truth with probability 1 - alpha. Gains are then within 2 eps, so that the context of U (and of Lmax) is
// found if it stands out by more than 4 eps. That says nothing about XOR, where contexts tie, so the game
// here has a gap. Empirical Bernstein, which needs no K in advance and knows small variances, stands beside
// Hoeffding.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "core/random.h"
#include "experiments/verify.h"
#include "stats/concentration.h"

namespace hifi {

namespace {

constexpr double kEpsilon = .04;  // 4 eps < the gap
constexpr double kAlpha = .05;
constexpr double kRepeats = 1000;
constexpr double kErrors = 4.5;
constexpr std::size_t kPlayers = 3;

// Mean losses of the eight coalitions of three players: for every player the smallest and the largest gain
// stand out by at least .2.
std::vector<double> truth() { return {.1, .2, .3, .6, .5, .8, .4, .9}; }

// 0/1 losses, or losses within .02 of their mean: the range is 1 for both, the variance is not.
enum class Kind { coins, narrow };

// P(|mean - p| > eps) of K 0/1 losses with mean p.
double tail(double p, std::size_t draws) {
  const boost::math::binomial coin(static_cast<double>(draws), p);
  double inside = 0;
  for (std::size_t k = 0; k <= draws; ++k) {
    if (std::abs(static_cast<double>(k) / static_cast<double>(draws) - p) <= kEpsilon + 1e-12)
      inside += boost::math::pdf(coin, static_cast<double>(k));
  }
  return 1 - inside;
}

// Contexts of U and Lmax of all players.
std::vector<std::vector<std::uint32_t>> extreme_contexts(const std::vector<double>& losses,
                                                         const Machinery& machinery) {
  std::vector<std::vector<std::uint32_t>> contexts;
  for (const FeatureProfile& f : machinery.decompose(kPlayers, losses).features) {
    contexts.push_back(f.U.context.value());
    contexts.push_back(f.Lmax.context.value());
  }
  return contexts;
}

// The same by sorting all gains, and by how much the extremes stand out, the least of all.
struct Sorted {
  std::vector<std::vector<std::uint32_t>> contexts;
  double gap = HUGE_VAL;
};
Sorted sorted_gains(const std::vector<double>& losses) {
  Sorted result;
  for (std::size_t i = 0; i < kPlayers; ++i) {
    std::vector<std::pair<double, std::uint64_t>> gains;
    for (std::uint64_t c = 0; c < losses.size(); ++c)
      if (((c >> i) & 1U) == 0) gains.emplace_back(losses[c] - losses[c | (std::uint64_t{1} << i)], c);
    std::sort(gains.begin(), gains.end());
    const std::size_t last = gains.size() - 1;
    result.gap =
        std::min({result.gap, gains[1].first - gains[0].first, gains[last].first - gains[last - 1].first});
    for (const std::uint64_t c : {gains.front().second, gains.back().second})
      result.contexts.push_back(Coalition::from_mask(kPlayers, c).members());
  }
  return result;
}

struct Outcome {
  double beyond = 0;        // share of vocabularies with an error above eps
  double beyond_own = 0;    // with an error above its empirical-Bernstein radius
  double beyond_third = 0;  // above a third of it
  double radius = 0;        // mean of these radii
  double recovered = 0;     // share of all in which the contexts are the true ones
  double lost_inside = 0;   // vocabularies within eps whose contexts are wrong
};

Outcome sample(Kind kind, std::size_t draws, std::uint64_t stream, const Machinery& machinery) {
  const std::vector<double> losses = truth();
  const auto contexts = sorted_gains(losses).contexts;
  const auto size = static_cast<double>(losses.size());
  const auto count = static_cast<double>(draws);
  RandomStream random(0, Purpose::verify, stream);
  Outcome outcome;
  for (int r = 0; r < static_cast<int>(kRepeats); ++r) {
    std::vector<double> mean(losses.size(), 0.0);
    double worst = 0, worst_own = 0;  // in units of eps and of the radius
    for (std::size_t s = 0; s < losses.size(); ++s) {
      double squares = 0;
      for (std::size_t k = 0; k < draws; ++k) {
        const double u = random.uniform();
        const double loss = kind == Kind::coins ? (u < losses[s] ? 1.0 : 0.0) : losses[s] + .04 * (u - .5);
        mean[s] += loss / count;
        squares += loss * loss;
      }
      const double variance = std::max(0.0, (squares - count * mean[s] * mean[s]) / (count - 1));
      const double radius = bernstein_radius(variance, 1, count, kAlpha / size);
      const double error = std::abs(mean[s] - losses[s]);
      worst = std::max(worst, error / kEpsilon);
      worst_own = std::max(worst_own, error / radius);
      outcome.radius += radius / (size * kRepeats);
    }
    const bool right = extreme_contexts(mean, machinery) == contexts;
    const bool inside = worst <= 1 + 1e-12;
    outcome.beyond += inside ? 0 : 1 / kRepeats;
    outcome.beyond_own += worst_own > 1 ? 1 / kRepeats : 0;
    outcome.beyond_third += worst_own > 1. / 3 ? 1 / kRepeats : 0;
    outcome.recovered += right ? 1 / kRepeats : 0;
    outcome.lost_inside += inside && !right ? 1 : 0;
  }
  return outcome;
}

}  // namespace

std::vector<Check> verify_vocabulary(const Machinery& machinery) {
  Checks checks("T4");
  const auto size = static_cast<double>(truth().size());
  const auto enough = static_cast<std::size_t>(std::ceil(hoeffding_draws(1, kEpsilon, kAlpha / size)));
  const Outcome theorem = sample(Kind::coins, enough, 200, machinery);
  checks.at_most(fmt::format("share of vocabularies with an error above {} at K = {}", kEpsilon, enough),
                 kAlpha, theorem.beyond);
  // Hoeffding leaves room, so also where errors do happen, against the exact probability.
  const std::size_t fewer = enough / 6;
  double inside = 1;
  for (const double p : truth()) inside *= 1 - tail(p, fewer);
  const Outcome few = sample(Kind::coins, fewer, 201, machinery);
  checks.equal(fmt::format("the same at K = {}: binomial, exactly", fewer), 1 - inside, few.beyond,
               kErrors * std::sqrt(inside * (1 - inside) / kRepeats));

  checks.at_most(fmt::format("share with an error above its empirical-Bernstein radius at K = {}", enough),
                 kAlpha, theorem.beyond_own);
  checks.at_least("share with an error above a third of that radius: the check can fail", .5,
                  theorem.beyond_third);
  const Outcome narrow = sample(Kind::narrow, enough, 203, machinery);
  checks.at_most("losses of small variance: empirical-Bernstein over Hoeffding radius", .5,
                 narrow.radius / kEpsilon);
  checks.at_most("the same: share with an error above the radius", kAlpha, narrow.beyond_own);

  checks.at_least("least gap of the contexts of U and Lmax, in eps: more than 4", 4 + 1e-9,
                  sorted_gains(truth()).gap / kEpsilon);
  checks.at_least(fmt::format("share in which the contexts of U and Lmax are found at K = {}", enough),
                  1 - kAlpha, theorem.recovered);
  checks.equal("vocabularies within eps whose contexts are wrong", 0, theorem.lost_inside + few.lost_inside,
               0);
  checks.at_most("share in which they are found at K = 4: the check can fail", .5,
                 sample(Kind::coins, 4, 202, machinery).recovered);
  return checks.list;
}

}  // namespace hifi
