#include "stats/concentration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace hifi {
namespace {

TEST(Concentration, HoeffdingIsItsFormulaAndItsOwnInverse) {
  // 2 exp(-2 K e^2 / B^2) = alpha
  const double radius = hoeffding_radius(3, 200, 0.05);
  EXPECT_NEAR(2 * std::exp(-2 * 200 * radius * radius / 9), 0.05, 1e-12);
  EXPECT_EQ(hoeffding_draws(3, radius * (1 + 1e-12), 0.05), 200);
  EXPECT_EQ(hoeffding_draws(1, 0.01, 0.05), 18445);  // ln(40) / (2 x .0001)
}

TEST(Concentration, BernsteinIsShorterWhereTheVarianceIsSmall) {
  EXPECT_NEAR(bernstein_radius(0, 1, 101, 0.05), 7 * std::log(80) / 300, 1e-12);
  EXPECT_NEAR(bernstein_radius(0.25, 0, 100, 0.05), std::sqrt(0.5 * std::log(80) / 100), 1e-12);
  EXPECT_LT(bernstein_radius(0.001, 1, 2000, 0.05), hoeffding_radius(1, 2000, 0.05));
  EXPECT_GT(bernstein_radius(0.25, 1, 2000, 0.05), hoeffding_radius(1, 2000, 0.05));
}

TEST(Concentration, BothCoverRareOnes) {
  int missed_hoeffding = 0, missed_bernstein = 0;
  for (std::uint64_t run = 0; run < 400; ++run) {
    RandomStream random(run, Purpose::probe);
    double sum = 0;
    for (int k = 0; k < 300; ++k) sum += random.uniform() < 0.02 ? 1 : 0;
    const double mean = sum / 300;
    const double variance = mean * (1 - mean) * 300 / 299;
    missed_hoeffding += std::abs(mean - 0.02) > hoeffding_radius(1, 300, 0.05);
    missed_bernstein += std::abs(mean - 0.02) > bernstein_radius(variance, 1, 300, 0.05);
  }
  EXPECT_LE(missed_hoeffding, 20);
  EXPECT_LE(missed_bernstein, 20);
}

}  // namespace
}  // namespace hifi
