#include "sampling/patch_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace hifi {
namespace {

// loss = -(2 [0] + [1][2] - [3]) on n players: Shapley values 2, 1/2, 1/2, -1, 0, ..
double loss(const Coalition& c) {
  const auto in = [&](std::size_t i) { return c.contains(i) ? 1.0 : 0.0; };
  return -(2 * in(0) + in(1) * in(2) - in(3));
}

std::vector<double> losses(std::span<const Coalition> coalitions) {
  std::vector<double> result;
  for (const Coalition& c : coalitions) result.push_back(loss(c));
  return result;
}

bool are_distinct(const std::vector<Coalition>& list) {
  return std::set<std::string>([&] {
           std::set<std::string> names;
           for (const Coalition& c : list) names.insert(c.to_string());
           return names;
         }())
             .size() == list.size();
}

TEST(PatchPlan, TakesAllCoalitionsThatFit) {
  const PatchPlan plan = plan_patches(6, 64, 10, 1, 0);
  EXPECT_EQ(plan.kind, PatchPlan::Kind::all);
  EXPECT_EQ(plan.coalitions.size(), 64U);
  EXPECT_TRUE(are_distinct(plan.coalitions));
  const std::vector<double> gains = mean_gains(6, plan, plan.coalitions, losses(plan.coalitions));
  const std::vector<double> expected{2, .5, .5, -1, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(gains[i], expected[i], 1e-12);
}

TEST(PatchPlan, ThePaperHasDiamondsThatDoNotDependOnLosses) {
  const PatchPlan plan = plan_patches(49, 500, 68, 7, 0, PatchPolicy::paper);
  EXPECT_EQ(plan.kind, PatchPlan::Kind::paper);
  EXPECT_EQ(plan.coalitions.size(), 432U);
  EXPECT_TRUE(are_distinct(plan.coalitions));
  EXPECT_EQ(plan.coalitions[0].count(), 0U);
  EXPECT_EQ(plan.coalitions[1].count(), 49U);
  std::set<std::string> names;
  for (const Coalition& c : plan.coalitions) names.insert(c.to_string());
  std::size_t ends = 0;
  for (std::size_t i = 0; i < 49; ++i)
    ends += names.count(Coalition(49).with(i).to_string()) +
            names.count(Coalition::full(49).without(i).to_string());
  EXPECT_EQ(ends, 98U);
  // Other grids and seeds have other diamonds.
  EXPECT_NE(plan_patches(49, 500, 68, 7, 1, PatchPolicy::paper).coalitions, plan.coalitions);
  EXPECT_NE(plan_patches(49, 500, 68, 8, 0, PatchPolicy::paper).coalitions, plan.coalitions);
  EXPECT_EQ(plan_patches(49, 500, 68, 7, 0, PatchPolicy::paper).coalitions, plan.coalitions);
}

TEST(PatchPlan, StaysWithinItsBudgetAndKeepsSomeApart) {
  for (const std::size_t players : {10U, 49U, 64U, 196U}) {
    for (const std::size_t most : {200U, 333U, 500U, 1000U, 4000U}) {
      for (const std::size_t apart : {0U, 68U}) {
        const PatchPlan plan = plan_patches(players, most, apart, 3, 1);
        if (plan.kind == PatchPlan::Kind::all) continue;
        EXPECT_TRUE(are_distinct(plan.coalitions));
        EXPECT_EQ(plan.coalitions[0].count(), 0U);
        EXPECT_EQ(plan.coalitions[1].count(), players);
        if (plan.kind == PatchPlan::Kind::search) {
          EXPECT_GT(2 * (2 * players + 2), most);
          EXPECT_LE(plan.search + apart, most);
        } else {
          EXPECT_LE(plan.coalitions.size() + apart, std::max(most, 2 * players + 2 + apart));
          EXPECT_TRUE(plan.chains.size() < 2 || plan.chains.size() % 2 == 0);
        }
      }
    }
  }
}

TEST(PatchPlan, ChainsComeWithTheirReverseAndAllTheirPrefixes) {
  const PatchPlan plan = plan_patches(20, 500, 0, 5, 0);
  ASSERT_EQ(plan.kind, PatchPlan::Kind::chains);
  EXPECT_EQ(plan.chains.size(), 26U);  // (500 - 42) / 17, even
  for (std::size_t k = 0; k < plan.chains.size(); k += 2) {
    EXPECT_TRUE(std::equal(plan.chains[k].begin(), plan.chains[k].end(), plan.chains[k + 1].rbegin()));
  }
  // Every chain adds up to the whole change, and antithetic chains see a pair from both sides: exact here.
  const std::vector<double> gains = mean_gains(20, plan, plan.coalitions, losses(plan.coalitions));
  EXPECT_NEAR(gains[0], 2, 1e-12);
  EXPECT_NEAR(gains[1], .5, 1e-12);
  EXPECT_NEAR(gains[2], .5, 1e-12);
  EXPECT_NEAR(gains[3], -1, 1e-12);
  EXPECT_NEAR(gains[4], 0, 1e-12);
}

TEST(PatchPlan, OrdersDependOnSeedAndGridAlone) {
  EXPECT_EQ(plan_patches(20, 500, 0, 5, 0).chains, plan_patches(20, 500, 0, 5, 0).chains);
  EXPECT_NE(plan_patches(20, 500, 0, 5, 0).chains, plan_patches(20, 500, 0, 6, 0).chains);
  EXPECT_NE(plan_patches(20, 500, 0, 5, 0).chains, plan_patches(20, 500, 0, 5, 1).chains);
}

TEST(PatchPlan, MeansOverContextsSeenWhereThereAreNoChains) {
  const std::vector<Coalition> seen{Coalition(5), Coalition(5).with(1), Coalition(5).with(2),
                                    Coalition(5).with(1).with(2)};
  const std::vector<double> gains = mean_gains(5, {.kind = PatchPlan::Kind::search}, seen, losses(seen));
  EXPECT_NEAR(gains[1], .5, 1e-12);  // 0 alone, 1 with its partner
  EXPECT_TRUE(std::isnan(gains[0]));
}

}  // namespace
}  // namespace hifi
