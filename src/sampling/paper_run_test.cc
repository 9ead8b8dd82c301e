#include "sampling/paper_run.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/test_folder.h"
#include "game/planted.h"
#include "sampling/test_runs.h"
#include "vocabulary/lattice_store.h"

namespace hifi {
namespace {

constexpr std::size_t kRows = 200;

struct World {
  std::size_t players;
  RunPlan plan = test_plan();
  DrawPlan draws;

  World(std::size_t n, std::uint64_t evaluations)
      : players(n), draws({.instances = kRows, .background_rows = kRows, .seed = 4, .draws = 32}) {
    plan.policy = "paper";
    plan.seed = 4;
    plan.players.clear();
    for (std::size_t i = 0; i < n; ++i) plan.players.push_back("p" + std::to_string(i));
    reshape(plan, 32, 1, 1, 0);
    plan.pairs = kRows * kRows;
    plan.paper = {.evaluations = evaluations, .range_draws = 32, .ranges = plan.pairs / 32, .slices = 8};
  }

  PaperResult run(Game& game, RunFile* file, std::size_t threads = 1) const {
    Workers workers(threads);
    Progress progress(plan.paper.evaluations, 0, {});
    return run_paper(game, draws, plan, file, workers, progress);
  }
};

void expect_same(const PaperResult& a, const PaperResult& b) {
  ASSERT_EQ(a.visits.size(), b.visits.size());
  for (std::size_t k = 0; k < a.visits.size(); ++k) {
    EXPECT_EQ(a.visits[k].coalition, b.visits[k].coalition);
    EXPECT_EQ(a.visits[k].range, b.visits[k].range);
    EXPECT_EQ(a.visits[k].first, b.visits[k].first);
    EXPECT_EQ(a.visits[k].slices, b.visits[k].slices);
  }
  EXPECT_EQ(a.fallbacks, b.fallbacks);
  EXPECT_EQ(a.converged, b.converged);
}

TEST(PaperRun, SpendsItsBudgetAndNotMore) {
  XorGame xor3(5, kRows, .5, .5);
  // Forced: 12 visits; then diamonds of four.
  for (const auto& [evaluations, visits] : std::map<std::uint64_t, std::uint64_t>{
           {12 * 32, 12}, {13 * 32, 12}, {16 * 32, 16}, {5000, 156}, {100'000, 3124}}) {
    const World world(5, evaluations);
    CountingGame game(xor3);
    const PaperResult result = world.run(game, nullptr, 2);
    EXPECT_EQ(result.visits.size(), visits);
    EXPECT_EQ(game.evaluations, 32 * visits);
    EXPECT_FALSE(result.converged);
  }
}

TEST(PaperRun, SlicesAreMeansOfTheDrawsOfTheirRange) {
  XorGame game(4, kRows, .7, .2);
  const World world(4, 3000);
  const PaperResult result = world.run(game, nullptr);
  for (const Visit& visit : result.visits) {
    for (std::size_t s = 0; s < 8; ++s) {
      double mean = 0;
      for (std::uint64_t d = 0; d < 4; ++d)
        mean += game.loss(visit.coalition,
                          world.draws.at(visit.range % world.plan.paper.ranges * 32 + 4 * s + d)) /
                4;
      EXPECT_NEAR(visit.slices[s], mean, 1e-14);
    }
  }
}

TEST(PaperRun, ThreadsDoNotChangeABit) {
  XorGame game(5, kRows, .9, .1);
  const World world(5, 40'000);
  const PaperResult one = world.run(game, nullptr, 1);
  for (const std::size_t threads : {2U, 3U}) expect_same(world.run(game, nullptr, threads), one);
}

TEST(PaperRun, StoppedAnywhereAndResumedIsTheSameRun) {
  XorGame xor3(4, kRows, .9, .1);
  const World world(4, 20'000);
  CountingGame counting(xor3);
  const PaperResult whole = world.run(counting, nullptr);
  EXPECT_FALSE(whole.fallbacks.empty()) << "a fallback is part of what must be repeated";
  for (const std::size_t stop : {1U, 2U, 33U, 34U, 60U, 150U, 400U}) {
    if (stop > counting.calls) continue;
    const TemporaryFolder folder;
    RunFile file = RunFile::create(folder.path("run"), world.plan.to_json());
    CountingGame stopping(xor3, stop);
    EXPECT_EQ(error_of([&] { world.run(stopping, &file); }, ErrorCode::model), "the model failed");
    EXPECT_FALSE(is_complete(file, world.plan));
    EXPECT_TRUE(contains(error_of([&] { read_paper(file, world.plan); }), "fewer visits"));
    CountingGame rest(xor3);
    expect_same(world.run(rest, &file, 2), whole);
    EXPECT_LE(stopping.evaluations + rest.evaluations, counting.evaluations + 33 * 4 * 32)
        << "at most the batch in work is lost";
    EXPECT_TRUE(is_complete(file, world.plan));
    expect_same(read_paper(file, world.plan), whole);
    EXPECT_EQ(file.log_lines().size(), whole.fallbacks.size()) << "a fallback is logged once";
  }
}

// Instances that are mostly 1 and a background that is mostly 0: the losses of C+i and C+j move against those
// of C and C+ij. Which pairs A3 fails for comes from enumerating all pairs of rows.
TEST(PaperRun, FallsBackWhereA3FailsAndNowhereElse) {
  for (const bool violated : {true, false}) {
    XorGame game(5, kRows, violated ? .9 : .1, .1);
    const World world(5, 150'000);
    const auto variance = [&](auto&& value) {
      double mean = 0, squares = 0;
      for (std::uint32_t x = 0; x < kRows; ++x) {
        for (std::uint32_t z = 0; z < kRows; ++z) {
          const double v = value({.instance = x, .background = z});
          mean += v / (kRows * kRows);
          squares += v * v / (kRows * kRows);
        }
      }
      return squares - mean * mean;
    };
    for (const std::uint64_t c : {0U, 4U}) {
      double apart = 0;
      const auto loss = [&](std::uint64_t mask, const Draw& d) {
        return game.loss(Coalition::from_mask(5, mask), d);
      };
      for (const std::uint64_t mask : {c, c | 1, c | 2, c | 3})
        apart += variance([&](const Draw& d) { return loss(mask, d); });
      const double mixed = variance(
          [&](const Draw& d) { return loss(c | 1, d) + loss(c | 2, d) - loss(c | 3, d) - loss(c, d); });
      EXPECT_EQ(mixed > apart, violated);
    }
    const TemporaryFolder folder;
    RunFile file = RunFile::create(folder.path("run"), world.plan.to_json());
    const PaperResult result = world.run(game, &file);
    const std::set<std::pair<std::uint32_t, std::uint32_t>> flagged(result.fallbacks.begin(),
                                                                    result.fallbacks.end());
    EXPECT_EQ(flagged.size(), result.fallbacks.size());
    const std::set<std::pair<std::uint32_t, std::uint32_t>> expected{{0, 1}, {0, 2}, {1, 2}};
    EXPECT_EQ(flagged, violated ? expected : decltype(expected){});
    EXPECT_EQ(file.log_lines().size(), flagged.size());
    for (const std::string& line : file.log_lines()) EXPECT_TRUE(contains(line, "A3 does not hold for p"));

    std::size_t sides = 0;
    std::set<std::uint64_t> side_ranges;
    std::map<std::uint64_t, std::size_t> shared_ranges;
    for (const Visit& visit : result.visits) {
      if (!visit.is_side()) {
        ++shared_ranges[visit.range];
        continue;
      }
      ++sides;
      EXPECT_TRUE(flagged.contains({visit.first, visit.second}));
      EXPECT_TRUE(side_ranges.insert(visit.range).second) << "every side corner has draws of its own";
    }
    EXPECT_EQ(sides > 0, violated);
    for (const auto& [range, count] : shared_ranges) {
      EXPECT_EQ(count, range == 0 ? 12U : 4U);
      EXPECT_FALSE(side_ranges.contains(range));
    }
  }
}

TEST(PaperRun, StopsWhereEveryCoalitionIsNarrow) {
  PlantedGame game([] {
    PlantedSpec spec = planted_family("null", 16, 1);
    spec.draws = kRows;
    return spec;
  }());
  World world(16, 1'000'000);
  world.plan.paper.width = .01;
  CountingGame counting(game);
  const PaperResult result = world.run(counting, nullptr);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.visits.size(), 34U) << "no noise: the ends alone";
}

TEST(PaperRun, VisitsThatThePlanDoesNotAskForAreRefused) {
  XorGame game(4, kRows, .5, .5);
  const World world(4, 3000);
  const TemporaryFolder folder;
  RunFile file = RunFile::create(folder.path("run"), world.plan.to_json());
  world.run(game, &file);
  RunPlan other = world.plan;
  other.seed = 5;
  const std::string message = error_of([&] { read_paper(file, other); });
  EXPECT_TRUE(contains(message, "other visits") && contains(message, folder.path("run"))) << message;
  other = world.plan;
  other.paper.evaluations = 2000;
  EXPECT_TRUE(contains(error_of([&] { read_paper(file, other); }), "more visits"));
}

}  // namespace
}  // namespace hifi
