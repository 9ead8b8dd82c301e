#include "stats/extrema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "stats/student.h"

namespace hifi {
namespace {

constexpr std::size_t kBlocks = 32;

// V statistics with known means, each the mean of kBlocks noisy block means.
struct Sample {
  std::vector<double> value;
  std::vector<double> error;
  std::vector<std::vector<double>> influence;  // by statistic

  Sample(const std::vector<double>& truth, std::uint64_t seed, double common = 0) {
    RandomStream random(seed, Purpose::probe);
    std::vector<double> shared(kBlocks);
    for (double& x : shared) x = common * random.normal();
    for (const double mean : truth) {
      std::vector<double> block(kBlocks);
      double sum = 0;
      for (std::size_t g = 0; g < kBlocks; ++g) sum += block[g] = mean + shared[g] + random.normal();
      const double center = sum / kBlocks;
      double squares = 0;
      for (double& x : block) {
        x = (x - center) / kBlocks * std::sqrt(kBlocks / (kBlocks - 1.0));
        squares += x * x;
      }
      value.push_back(center);
      error.push_back(std::sqrt(squares));
      influence.push_back(block);
    }
  }
  Statistics statistics() const {
    return {.value = value, .error = error, .influence = [this](std::size_t c, std::span<double> out) {
              std::copy(influence[c].begin(), influence[c].end(), out.begin());
            }};
  }
};

struct Tally {
  int below = 0, above = 0, runs = 0;
  double plugin_bias = 0, corrected_bias = 0;
};

Tally simulate(const std::vector<double>& truth, int runs, const MaxOptions& options = {},
               double common = 0) {
  const MaxInferrer inferrer({.parts = {kBlocks}}, options, 1);
  const double target = *std::max_element(truth.begin(), truth.end());
  Tally tally{.runs = runs};
  for (int r = 0; r < runs; ++r) {
    const Sample sample(truth, static_cast<std::uint64_t>(r) + 100, common);
    const MaxInference result = inferrer.infer(sample.statistics());
    tally.below += *result.high < target;
    tally.above += *result.low > target;
    tally.plugin_bias += (result.plugin - target) / runs;
    tally.corrected_bias += (result.corrected - target) / runs;
  }
  return tally;
}

TEST(TQuantile, MatchesTables) {
  EXPECT_NEAR(t_quantile(0.975, 31), 2.0395, 1e-4);
  EXPECT_NEAR(t_quantile(0.975, 1e6), 1.95996, 1e-4);
}

TEST(MaxInference, CoversManyTiedStatistics) {
  const Tally tally = simulate(std::vector<double>(60, 0.0), 300);
  EXPECT_LE(tally.above, 300 * 0.045);  // nominal 2.5 %
  EXPECT_LE(tally.below, 300 * 0.025);  // the true maximiser is one of many: conservative
  EXPECT_GT(tally.plugin_bias, 0.35);
  EXPECT_LT(std::abs(tally.corrected_bias), 0.25 * tally.plugin_bias);
}

TEST(MaxInference, CoversOneClearWinner) {
  std::vector<double> truth(40, 0.0);
  truth[7] = 5;
  const Tally tally = simulate(truth, 300);
  EXPECT_NEAR(tally.above, 8, 9);
  EXPECT_NEAR(tally.below, 8, 9);
  EXPECT_LT(std::abs(tally.corrected_bias), 0.03);
}

TEST(MaxInference, CoversUnevenMeansWithSharedNoise) {
  std::vector<double> truth;
  for (int k = 0; k < 50; ++k) truth.push_back(-0.02 * k);
  const Tally tally = simulate(truth, 300, {}, 2.0);
  EXPECT_LE(tally.above + tally.below, 300 * 0.07);
}

TEST(MaxInference, SplitsBlocksBeyondTheSimulatedNumber) {
  const MaxOptions split{.simulated = 20};
  const Tally tally = simulate(std::vector<double>(500, 0.0), 300, split);
  EXPECT_LE(tally.above, 300 * 0.05);
  EXPECT_LE(tally.below, 300 * 0.025);
  EXPECT_LT(std::abs(tally.corrected_bias), 0.15 * tally.plugin_bias);
}

TEST(MaxInference, KnownHalvesGiveTheSameSplit) {
  const MaxInferrer inferrer({.parts = {kBlocks}}, {.simulated = 20}, 1);
  const Sample sample(std::vector<double>(100, 0.0), 7);
  Statistics s = sample.statistics();
  const MaxInference expected = inferrer.infer(s);
  s.half = [&](std::size_t parity, std::span<const std::size_t> which, std::span<double> out) {
    double ignored = 0;
    for (std::size_t k = 0; k < which.size(); ++k)
      out[k] =
          half_value(inferrer.rows(), sample.value[which[k]], sample.influence[which[k]], parity, &ignored);
  };
  const MaxInference result = inferrer.infer(s);
  EXPECT_EQ(result.low, expected.low);
  EXPECT_EQ(result.corrected, expected.corrected);
}

TEST(MaxInference, IndependentNoiseNeedsNoMultipliers) {
  // A block for each of a million draws: nothing may be stored by block.
  const MaxInferrer inferrer({.parts = {1'000'000}}, {.independent = true}, 1);
  const std::vector<double> value(50, 1.0), error(50, 0.1);
  const MaxInference result = inferrer.infer({.value = value, .error = error});
  EXPECT_NEAR(result.corrected, 1 - 0.1 * 2.249, 0.01);  // the mean of the largest of 50 normals
  EXPECT_NEAR(*result.low, 1 - 0.1 * 3.2905, 1e-3);      // the normal quantile at 1 - .025 / 50
  EXPECT_NEAR(*result.high, 1 + 0.1 * 1.95996, 1e-3);
}

TEST(MaxInference, SmallAlphaFallsBackToBonferroni) {
  const Tally tally = simulate(std::vector<double>(30, 0.0), 300, {.alpha = 0.001});
  EXPECT_EQ(tally.above + tally.below, 0);
}

TEST(MaxInference, AConstantBoundsFromBelow) {
  const MaxInferrer inferrer({.parts = {kBlocks}}, {}, 1);
  const Sample sample({-9.0, -8.0}, 5);
  Statistics s = sample.statistics();
  s.constant = 0.0;
  const MaxInference result = inferrer.infer(s);
  EXPECT_EQ(result.plugin, 0);
  EXPECT_EQ(result.corrected, 0);
  EXPECT_EQ(result.low, 0.0);
  EXPECT_EQ(result.high, 0.0);
}

TEST(MaxInference, ZeroErrorIsKnownOnlyIfTheCallerSaysSo) {
  const MaxInferrer inferrer({.parts = {kBlocks}}, {}, 1);
  Sample sample({1.0, 0.5}, 5);
  sample.value = {1.0, 0.5};
  sample.error = {0.0, 0.01};
  sample.influence[0].assign(kBlocks, 0.0);
  Statistics s = sample.statistics();
  MaxInference result = inferrer.infer(s);
  EXPECT_FALSE(result.high.has_value());
  EXPECT_LT(*result.low, 1.0);  // only the noisy one bounds it
  s.zero_is_exact = true;
  result = inferrer.infer(s);
  EXPECT_EQ(result.low, 1.0);
  EXPECT_EQ(result.high, 1.0);
}

}  // namespace
}  // namespace hifi
