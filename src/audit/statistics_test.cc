// The promises of docs/statistics.md in short, with fixed seeds; `make statistics` measures them at length.
#include <gtest/gtest.h>

#include "known_truth.h"

namespace hifi {
namespace {

struct Cell {
  Setting setting;
  std::size_t rows;
  std::size_t other_rows;  // 0: the background is the data
  int repetitions;
  std::uint64_t draws = 0;  // 0: the default budget

  std::vector<Tally> run() const {
    Workers workers;
    const ScanResult truth = scan_dense(setting.players, setting.population, {}, workers);
    std::vector<Tally> tallies(kChannels.size());
    for (int r = 0; r < repetitions; ++r) {
      const auto seed = static_cast<std::uint64_t>(2 * r + 70'000);
      std::optional<Table> background;
      if (other_rows > 0) background = make_table(setting, other_rows, seed + 1, false);
      ExplainRequest request{.policy = "exhaustive", .seed = seed};
      if (draws > 0) request.budget = draws << setting.players;
      tally(explain(setting, make_table(setting, rows, seed, true), background, request, workers), truth,
            true, tallies);
    }
    return tallies;
  }
};

double coverage(const Tally& t) { return t.covered / t.count; }
double width(const Tally& t) { return t.width / t.count; }
double error_ratio(const Tally& t) { return t.absolute / t.plugin_absolute; }

// The order of kChannels.
enum Channel { kPi, kLast, kU, kLmax, kR, kS, kPairS, kPairR };

TEST(Statistics, PopulationIntervalsOfBitsCover) {
  for (const std::size_t other : {0U, 64U}) {
    const std::vector<Tally> found = Cell{xor_and(), 128, other, 40}.run();
    for (std::size_t c = 0; c < found.size(); ++c) {
      EXPECT_GE(coverage(found[c]), 0.91) << kChannels[c] << ", other rows " << other;
      EXPECT_LE(width(found[c]), 0.35) << kChannels[c];
    }
    EXPECT_LE(width(found[kU]), other == 0 ? 0.2 : 0.22);
  }
}

TEST(Statistics, PopulationIntervalsOfHeavyTailsCover) {
  for (const std::size_t other : {0U, 64U}) {
    const std::vector<Tally> found = Cell{eight(), 128, other, 25, 1024}.run();
    for (std::size_t c = 0; c < found.size(); ++c)
      EXPECT_GE(coverage(found[c]), c == kLast ? 0.84 : 0.9) << kChannels[c] << ", other rows " << other;
    EXPECT_LE(width(found[kU]), other == 0 ? 2.1 : 2.3);
    EXPECT_LE(width(found[kR]), 1.8);
    EXPECT_LE(width(found[kPairR]), 0.8);
  }
}

TEST(Statistics, CorrectedExtremesAreMoreAccurateThanThePlugIn) {
  const std::vector<Tally> found = Cell{eight(), 117, 117, 60, 117}.run();
  EXPECT_LE(error_ratio(found[kU]), 1 / 1.6 + 0.04);  // sixty repetitions leave some noise
  EXPECT_LE(error_ratio(found[kR]), 0.4);
  EXPECT_LE(error_ratio(found[kPairR]), 0.4);
  EXPECT_LE(error_ratio(found[kS]), 1.0);
  EXPECT_DOUBLE_EQ(error_ratio(found[kPi]), 1.0);  // no maximum, no correction
  EXPECT_GT(std::abs(found[kU].plugin_bias), 2 * std::abs(found[kU].bias));
}

TEST(Statistics, MonteCarloIntervalsCoverTheExactLattice) {
  Workers workers;
  const Setting s = eight();
  const Table data = make_table(s, 64, 7, true);
  const Profile exact = explain(s, data, {}, {.exact = true, .interval = "montecarlo"}, workers);
  const ScanResult truth{.features = exact.features, .pairs = exact.pairs};
  double last_width = HUGE_VAL;
  for (const std::size_t rounds : {8U, 32U}) {
    std::vector<Tally> found(kChannels.size());
    for (std::uint64_t r = 0; r < 30; ++r) {
      const std::uint64_t budget = (std::uint64_t{64} * rounds) << s.players;
      tally(explain(s, data, {},
                    {.policy = "exhaustive", .budget = budget, .seed = r, .interval = "montecarlo"}, workers),
            truth, false, found);
    }
    for (std::size_t c = 0; c < found.size(); ++c)
      EXPECT_GE(coverage(found[c]), 0.91) << kChannels[c] << ", " << rounds << " rounds";
    EXPECT_LT(width(found[kU]), 0.6 * last_width);
    last_width = width(found[kU]);
  }
}

TEST(Statistics, ANoisyNearDummyIsNotDeclaredToMatter) {
  Workers workers;
  const Setting s = near_dummy();
  for (std::uint64_t r = 0; r < 3; ++r) {
    const Profile profile =
        explain(s, make_table(s, 128, 2 * r + 80'000, true), make_table(s, 128, 2 * r + 80'001, false),
                {.policy = "exhaustive", .budget = std::uint64_t{128} << s.players, .seed = r}, workers);
    const FeatureProfile& f = profile.features[15];
    EXPECT_GT(*f.Lmax.plugin, *profile.coverage.threshold);  // the plug-in alone would say so
    EXPECT_TRUE(*f.verdict == "unresolved" || *f.verdict == "negligible") << *f.verdict;
    EXPECT_NE(*profile.features[0].verdict, "negligible");
  }
}

}  // namespace
}  // namespace hifi
