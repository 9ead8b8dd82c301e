#include "experiments/e1_scm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decomposition/scan.h"
#include "stats/correlation.h"

namespace hifi {
namespace {

// The closed forms against pairs of rows drawn from the models.
TEST(CausalModels, PopulationLossesAreThoseOfDraws) {
  constexpr std::size_t kDraws = 100'000;
  for (const CausalModel& model : e1_models()) {
    const std::size_t n = model.players;
    const Sample x = draw_sample(model, kDraws, 1, 0);
    const Sample z = draw_sample(model, kDraws, 1, 1);
    ASSERT_EQ(model.population_losses.size(), std::size_t{1} << n);
    for (std::size_t s = 0; s < model.population_losses.size(); s += n == 8 ? 7 : 1) {
      double sum = 0, squares = 0;
      std::vector<double> row(n);
      for (std::size_t d = 0; d < kDraws; ++d) {
        for (std::size_t i = 0; i < n; ++i) row[i] = ((s >> i) & 1U ? x : z).rows[d * n + i];
        const double loss = std::pow(model.mean(row) - x.targets[d], 2);
        sum += loss;
        squares += loss * loss;
      }
      const double mean = sum / kDraws;
      const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
      EXPECT_NEAR(mean, model.population_losses[s], 4.5 * error + 1e-12) << model.key << " " << s;
    }
  }
}

TEST(CausalModels, ProfileOfSynth3) {
  const CausalModel model = synth3_model();
  Workers workers(1);
  const ScanResult scan = scan_dense(8, model.population_losses, {}, workers);
  const auto is = [&](std::size_t player, double U, double R, double S) {
    EXPECT_NEAR(*scan.features[player].U.value, U, 1e-12);
    EXPECT_NEAR(*scan.features[player].R.value, R, 1e-12);
    EXPECT_NEAR(*scan.features[player].S.value, S, 1e-12);
  };
  is(0, .5, 1, 0);  // each of the twins carries half of the sum: U is not 0
  is(1, .505, 1, 0);
  is(2, 0, 0, 2);
  is(4, 2, 0, 0);
  is(7, 0, 0, 2);
  // What no estimate can beat against 0/1 roles.
  std::vector<double> U;
  for (const FeatureProfile& f : scan.features) U.push_back(*f.U.value);
  const Roles roles = synth3_roles();
  EXPECT_NEAR(pearson(U, roles.U)->value, .945, 5e-4);
  EXPECT_NEAR(*spearman_ceiling(roles.U), .577, 5e-4);
  EXPECT_NEAR(*spearman_ceiling(roles.R), .756, 5e-4);
  EXPECT_NEAR(*spearman_ceiling(roles.S), .845, 5e-4);
  EXPECT_NEAR(*spearman_ceiling(roles.pair_S), .606, 5e-4);
  EXPECT_NEAR(*spearman_ceiling(roles.pair_R), .322, 5e-4);
}

TEST(CausalModels, PermutedColumnsKeepTheirValuesOnly) {
  const Sample sample = draw_sample(synth3_model(), 500, 2, 0);
  const Sample permuted = permuted_columns(sample, 2);
  const auto column = [](const Sample& s, std::size_t c) {
    std::vector<double> values;
    for (std::size_t r = 0; r < s.size(); ++r) values.push_back(s.rows[r * s.width + c]);
    return values;
  };
  EXPECT_GT(pearson(column(sample, 0), column(sample, 1))->value, .99);
  EXPECT_LT(std::abs(pearson(column(permuted, 0), column(permuted, 1))->value), .2);
  auto before = column(sample, 3), after = column(permuted, 3);
  EXPECT_NE(before, after);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace hifi
