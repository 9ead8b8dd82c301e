// Theorem 2: the mean of K losses on independent background rows. XOR of three bits with one input known: the
// loss is 0 or 1 with probability 1/2, so L = 1/2, sigma^2 = 1/4, B = 1, and tails are binomial, known
// exactly.
#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "core/random.h"
#include "experiments/binary_game.h"
#include "experiments/verify.h"

namespace hifi {

namespace {

constexpr std::size_t kRepeats = 20'000;
constexpr double kErrors =
    4.5;  // standard errors: a check is wrong by chance less than once in 100,000 seeds

double estimate(const BinaryModel& model, Bits coalition, Bits x, std::size_t draws, RandomStream& random) {
  double mean = 0;
  for (std::size_t k = 0; k < draws; ++k) {
    const auto z = static_cast<Bits>(random.below(std::uint64_t{1} << model.players));
    mean += (model.loss(coalition, x, z) - mean) / static_cast<double>(k + 1);  // Welford's
  }
  return mean;
}

// P(|mean - 1/2| > epsilon) of K fair coins.
double binomial_tail(std::size_t draws, double epsilon) {
  const boost::math::binomial coin(static_cast<double>(draws), .5);
  double sum = 0;
  for (std::size_t k = 0; k <= draws; ++k) {
    if (std::abs(static_cast<double>(k) / static_cast<double>(draws) - .5) > epsilon + 1e-12)
      sum += boost::math::pdf(coin, static_cast<double>(k));
  }
  return sum;
}

}  // namespace

std::vector<Check> verify_monte_carlo() {
  Checks checks("T2");
  const BinaryModel model = parity_model();
  constexpr Bits kCoalition = 0b0001;
  constexpr Bits kInstance = 0b0110;
  constexpr std::size_t kGroups = 20;  // of repeats, for the spread of the slope
  const std::vector<std::size_t> sizes = {8, 16, 32, 64, 128};
  std::vector<std::vector<double>> group_errors(kGroups, std::vector<double>(sizes.size(), 0.0));
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    const std::size_t draws = sizes[s];
    RandomStream random(0, Purpose::verify, s);
    double bias = 0;
    double squared = 0;
    std::size_t beyond = 0;
    // Where Hoeffding's bound is near 1/4: it must be below 1 to say anything.
    const double epsilon = std::sqrt(std::log(8.0) / (2 * static_cast<double>(draws)));
    for (std::size_t r = 0; r < kRepeats; ++r) {
      const double error = estimate(model, kCoalition, kInstance, draws, random) - .5;
      bias += error / kRepeats;
      squared += error * error / kRepeats;
      group_errors[r % kGroups][s] += error * error;
      beyond += std::abs(error) > epsilon + 1e-12 ? 1 : 0;
    }
    const auto k = static_cast<double>(draws);
    constexpr double repeats = kRepeats;
    checks.equal(fmt::format("bias of the mean of {} losses", draws), 0, bias,
                 kErrors * std::sqrt(.25 / k / repeats));
    // The error is nearly normal: its square has a relative deviation of sqrt(2) or less.
    checks.equal(fmt::format("mean squared error at K = {}", draws), .25 / k, squared,
                 kErrors * .25 / k * std::sqrt(2 / repeats));
    const double tail = static_cast<double>(beyond) / repeats;
    const double truth = binomial_tail(draws, epsilon);
    checks.at_most(fmt::format("share of errors beyond {:.3f} at K = {}: Hoeffding", epsilon, draws),
                   2 * std::exp(-2 * k * epsilon * epsilon), tail);
    checks.equal(fmt::format("the same: binomial, exactly, K = {}", draws), truth, tail,
                 kErrors * std::sqrt(truth * (1 - truth) / repeats));
  }
  double mean = 0;
  double spread = 0;
  std::vector<double> slopes;
  for (const auto& errors : group_errors) {
    double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
    const auto count = static_cast<double>(sizes.size());
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      x_mean += std::log(static_cast<double>(sizes[s])) / count;
      y_mean += std::log(errors[s]) / count;
    }
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const double x = std::log(static_cast<double>(sizes[s])) - x_mean;
      xx += x * x;
      xy += x * (std::log(errors[s]) - y_mean);
    }
    slopes.push_back(xy / xx);
    mean += slopes.back() / kGroups;
  }
  for (const double slope : slopes) spread += (slope - mean) * (slope - mean) / (kGroups - 1);
  checks.equal(fmt::format("log-log slope of the squared error, mean of {} repetitions", kGroups), -1, mean,
               kErrors * std::sqrt(spread / kGroups));
  return checks.list;
}

}  // namespace hifi
