#include "decomposition/verdict.h"

#include <gtest/gtest.h>

namespace hifi {
namespace {

Quantity q(double value, double low, double high) {
  return {.value = value, .plugin = value, .low = low, .high = high};
}

// U, R, S with pi and Lmax that fit; intervals of +-width.
FeatureProfile feature(double u, double r, double s, double width = 0.001) {
  const auto around = [&](double x) { return q(x, x - width, x + width); };
  return {.U = around(u),
          .R = around(r),
          .S = around(s),
          .pi = around(u + r),
          .Lmax = around(u + r + s),
          .last = around(u)};
}

std::string judged(FeatureProfile f, VerdictOptions options = {.threshold = 0.01, .loss_scale = 1}) {
  std::vector<FeatureProfile> features = {f};
  std::vector<PairProfile> pairs;
  judge(features, pairs, options);
  return *features[0].verdict;
}

TEST(Verdict, TheLargestChannelWins) {
  EXPECT_EQ(judged(feature(0.5, 0.1, 0.1)), "unique");
  EXPECT_EQ(judged(feature(0.1, 0.5, 0.1)), "redundant");
  EXPECT_EQ(judged(feature(0.1, 0.1, 0.5)), "synergistic");
  EXPECT_EQ(judged(feature(0.3, 0.3, 0.3)), "unique");  // ties in that order
}

TEST(Verdict, SmallIsNegligibleAndWideIsUnresolved) {
  EXPECT_EQ(judged(feature(0.001, 0.001, 0.001)), "negligible");
  EXPECT_EQ(judged(feature(0.001, 0.001, 0.001, 0.1)), "unresolved");
  EXPECT_EQ(judged(feature(0.5, 0.1, 0.1, 1.0)), "unresolved");
}

TEST(Verdict, HarmfulHelpsNowhere) {
  FeatureProfile f = feature(-0.3, 0.0, 0.0);
  EXPECT_EQ(judged(f), "harmful");
  // Needed at the end though it hurts somewhere: not harmful.
  f = feature(-0.3, 0.1, 0.9);
  f.last = q(0.7, 0.69, 0.71);
  EXPECT_EQ(judged(f), "synergistic");
  std::vector<FeatureProfile> features = {f};
  std::vector<PairProfile> pairs;
  judge(features, pairs, {.threshold = 0.01, .loss_scale = 1});
  EXPECT_EQ(features[0].hurts_in_context, true);
}

TEST(Verdict, SynergyThatHelpsNowhereIsNoVerdict) {
  FeatureProfile f = feature(-0.5, 0.0, 0.49);  // S > 0 only because pi < 0
  f.last = q(-0.005, -0.006, -0.004);
  EXPECT_EQ(judged(f), "negligible");
}

TEST(Verdict, AbsentEndsProveNothing) {
  FeatureProfile f = feature(0.5, 0.1, 0.1);
  f.U.low.reset();
  EXPECT_EQ(judged(f), "redundant");
}

TEST(Verdict, FlatLossesMakeEveryoneNegligible) {
  EXPECT_EQ(judged(feature(0.5, 0.1, 0.1), {.threshold = 0, .loss_scale = 1, .flat = true}), "negligible");
}

TEST(Verdict, ATableWithoutVariancesIsTakenAsExact) {
  FeatureProfile f = feature(0.5, 0.1, 0.1);
  for (Quantity* x : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) x->low = x->high = std::nullopt;
  EXPECT_EQ(judged(f), "unresolved");
  EXPECT_EQ(judged(f, {.threshold = 0.01, .loss_scale = 1, .values_are_exact = true}), "unique");
}

TEST(Verdict, ResolvedMeansNotStraddling) {
  std::vector<FeatureProfile> features = {feature(0.5, 0.0, 0.02, 0.015)};
  std::vector<PairProfile> pairs = {{.S = q(0.5, 0.4, 0.6), .R = q(0.01, 0.0, 0.02)}};
  judge(features, pairs, {.threshold = 0.01, .loss_scale = 1});
  EXPECT_EQ(features[0].U.resolved, true);
  EXPECT_EQ(features[0].R.resolved, false);
  EXPECT_EQ(features[0].S.resolved, false);
  EXPECT_EQ(pairs[0].S.resolved, true);
  EXPECT_EQ(pairs[0].R.resolved, false);
}

}  // namespace
}  // namespace hifi
