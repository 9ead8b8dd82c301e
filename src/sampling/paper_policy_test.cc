#include "sampling/paper_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "game/planted.h"
#include "hifi/error.h"

namespace hifi {
namespace {

TEST(PaperPolicy, ForcesTheEndsIfAsked) {
  EXPECT_EQ(PaperPolicy({.players = 5}).forced().size(), 12U);
  EXPECT_EQ(PaperPolicy({.players = 5, .forced_ends = false}).forced().size(), 2U);
  EXPECT_THROW(PaperPolicy({.players = 1}), Error);
}

TEST(PaperPolicy, ProposesDiamonds) {
  PaperPolicy policy({.players = 100, .seed = 3, .pairs = {{4, 70}, {9, 2}}});
  for (int k = 0; k < 50; ++k) {
    const Diamond d = policy.propose();
    EXPECT_TRUE((d.first == 4 && d.second == 70) || (d.first == 9 && d.second == 2));
    EXPECT_FALSE(d.corners[0].contains(d.first) || d.corners[0].contains(d.second));
    EXPECT_EQ(d.corners[1], d.corners[0].with(d.first));
    EXPECT_EQ(d.corners[2], d.corners[0].with(d.second));
    EXPECT_EQ(d.corners[3], d.corners[1].with(d.second));
  }
}

// Without exploration the context is an entry with probability exp(-beta visits) / sum.
TEST(PaperPolicy, DrawsBySoftminOverVisits) {
  PaperPolicy policy(
      {.players = 64, .seed = 8, .epsilon = 0, .beta = .7, .anneal_steps = 1e12, .pairs = {{0, 1}}});
  std::map<std::uint64_t, double> weight;
  double total = 0;
  for (std::uint64_t entry = 0; entry < 5; ++entry) {
    const auto c = Coalition::from_mask(64, entry << 2);  // neither of the pair
    for (std::uint64_t v = 0; v <= entry; ++v) policy.visit(c);
    EXPECT_EQ(policy.visits(c), entry + 1);
    if (entry == 1) policy.close(c);
    if (entry != 1) total += weight[entry << 2] = std::exp(-.7 * static_cast<double>(entry + 1));
  }
  EXPECT_EQ(policy.open(), 4U);
  std::map<std::uint64_t, double> drawn;
  constexpr int kDraws = 20'000;
  for (int k = 0; k < kDraws; ++k) drawn[policy.propose().corners[0].mask()] += 1. / kDraws;
  EXPECT_EQ(drawn.size(), 4U);
  for (const auto& [mask, w] : weight) EXPECT_NEAR(drawn[mask], w / total, .015);
}

TEST(PaperPolicy, ExploresWithProbabilityEpsilonAndAnneals) {
  PaperPolicy policy({.players = 200, .seed = 8});
  policy.visit(Coalition(200));
  EXPECT_DOUBLE_EQ(policy.beta(), 1);
  int explored = 0;
  for (int k = 0; k < 5000; ++k) explored += policy.propose().corners[0].count() > 0;
  EXPECT_NEAR(explored / 5000., .2, .02);
  EXPECT_NEAR(policy.beta(), 1. / 6, 1e-12);
  policy.close(Coalition(200));
  policy.visit(Coalition(200));  // converged entries may still be visited as corners
  EXPECT_EQ(policy.open(), 0U);
  EXPECT_GT(policy.propose().corners[3].count(), 2U);
}

TEST(PaperPolicy, KeepsTheBudget) {
  for (const std::size_t players : {3U, 70U}) {
    PlantedGame game(planted_family("null", players, 1));
    Workers workers(1);
    std::set<Coalition> asked;
    const auto evaluate = [&](std::span<const Coalition> wanted) {
      for (const Coalition& c : wanted) EXPECT_TRUE(asked.insert(c).second);
      return game.mean_losses(wanted, 0, 1, workers);
    };
    const PaperRun run = run_paper_policy({.players = players, .seed = 2}, 500, evaluate);
    EXPECT_EQ(run.coalitions.size(), players == 3 ? 8U : 500U);
    EXPECT_EQ(asked.size(), run.coalitions.size());
  }
}

}  // namespace
}  // namespace hifi
