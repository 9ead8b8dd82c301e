#include "sampling/searched.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"
#include "game/planted.h"
#include "sampling/exhaustive.h"
#include "sampling/test_runs.h"
#include "vocabulary/lattice_store.h"

namespace hifi {
namespace {

PlantedSpec noisy(const std::string& family, std::size_t players) {
  PlantedSpec spec = planted_family(family, players, 3);
  spec.draws = 400;
  spec.noise = .02;
  return spec;
}

// As an audit plans it: draws of the halves of 400 instances, one background row.
struct World {
  RunPlan plan = test_plan();
  SearchDraws draws;

  World(std::size_t players, std::size_t coalitions, std::size_t reported, bool split = true) {
    const DrawOptions all{.instances = 400, .background_rows = 1, .seed = 2, .draws = 40};
    auto parts = split_rows(all, true);
    if (!split) parts[0] = parts[1];
    for (const std::size_t half : {0U, 1U}) draws[half] = make_cell_draws(all, parts[half]);
    const CellDraws& report = draws[1];
    plan.players.assign(players, "p");
    plan.policy = "search";
    plan.seed = 2;
    plan.draws = 40;
    plan.instance_blocks = report.instance_blocks;
    plan.background_blocks = report.background_blocks;
    plan.round_blocks = report.round_blocks;
    plan.instance_weights = report.weights.instance;
    plan.background_weights = report.weights.background;
    plan.round_weights = report.weights.round;
    plan.search = {
        .coalitions = coalitions, .draws = 40, .split = split, .reported = reported, .sigma = .02 / 6};
    plan.tie_tolerance = 1e-9;
  }

  SearchedRun run(Game& game, RunFile* file, std::size_t threads = 1) const {
    Workers workers(threads);
    Progress progress(1, 0, {});
    return run_searched(game, draws, plan, file, workers, progress);
  }
};

void expect_same(const SearchedRun& a, const SearchedRun& b) {
  EXPECT_EQ(a.found.coalitions, b.found.coalitions);
  EXPECT_EQ(a.found.losses, b.found.losses);
  EXPECT_EQ(a.coalitions, b.coalitions);
  EXPECT_EQ(a.cells.instance, b.cells.instance);
  EXPECT_EQ(a.cells.sums.background, b.cells.sums.background);
  EXPECT_EQ(a.cells.sums.round, b.cells.sums.round);
  EXPECT_EQ(a.cells.sums.squares, b.cells.sums.squares);
}

TEST(Searched, NeverExceedsItsBudget) {
  for (const char* family : {"mix", "null", "image", "masked"}) {
    PlantedGame planted(noisy(family, 40));
    for (const std::size_t coalitions : {2U, 3U, 50U, 600U}) {
      for (const bool split : {true, false}) {
        const std::size_t reported = split ? coalitions / 3 : 0;
        const World world(40, coalitions, reported, split);
        CountingGame game(planted);
        const SearchedRun run = world.run(game, nullptr);
        EXPECT_LE(run.found.coalitions.size(), coalitions);
        EXPECT_EQ(game.evaluations, 40 * (run.found.coalitions.size() + (split ? run.coalitions.size() : 0)));
        EXPECT_LE(game.evaluations, 40 * (coalitions + reported)) << family;
      }
    }
  }
}

// The search sees the rows of one half, the report those of the other.
TEST(Searched, CellsAreSumsOverTheirOwnHalf) {
  PlantedGame game(noisy("mix", 40));
  const World world(40, 300, 100);
  const SearchedRun run = world.run(game, nullptr, 2);
  Workers workers(1);
  const auto mean = [&](const Coalition& c, const CellDraws& draws) {
    std::vector<double> losses(draws.draws.size());
    game.losses(CoalitionList::of(40, std::span(&c, 1)), draws.draws, losses, workers);
    double sum = 0;
    for (const double x : losses) sum += x;
    return sum / static_cast<double>(losses.size());
  };
  for (std::size_t k = 0; k < run.found.coalitions.size(); k += 17)
    EXPECT_NEAR(run.found.losses[k], mean(run.found.coalitions[k], world.draws[0]), 1e-12);
  const std::vector<double> means = run.cells.means();
  for (std::size_t k = 0; k < means.size(); k += 7)
    EXPECT_NEAR(means[k], mean(run.coalitions[k], world.draws[1]), 1e-12);
  EXPECT_EQ(run.coalitions, selected_coalitions(40, run.found.selection, 100));
}

TEST(Searched, ThreadsDoNotChangeABit) {
  PlantedGame game(noisy("masked", 60));
  const World world(60, 800, 200);
  const SearchedRun one = world.run(game, nullptr, 1);
  for (const std::size_t threads : {2U, 3U}) expect_same(world.run(game, nullptr, threads), one);
}

TEST(Searched, StoppedAnywhereAndResumedIsTheSameRun) {
  PlantedGame planted(noisy("mix", 40));
  for (const bool split : {true, false}) {
    const World world(40, 400, split ? 120 : 0, split);
    CountingGame counting(planted);
    const SearchedRun whole = world.run(counting, nullptr);
    const std::size_t calls = counting.calls;
    ASSERT_GT(calls, 5U);
    for (std::size_t stop = 1; stop <= calls; stop += stop < 5 || stop + 2 >= calls ? 1 : calls / 6) {
      const TemporaryFolder folder;
      RunFile file = RunFile::create(folder.path("run"), world.plan.to_json());
      CountingGame stopping(planted, stop);
      EXPECT_EQ(error_of([&] { world.run(stopping, &file); }, ErrorCode::model), "the model failed");
      EXPECT_FALSE(is_complete(file, world.plan));
      EXPECT_TRUE(contains(error_of([&] { read_searched(file, world.plan); }), folder.path("run")));
      CountingGame rest(planted);
      expect_same(world.run(rest, &file), whole);
      EXPECT_EQ(stopping.evaluations + rest.evaluations, counting.evaluations) << "nothing is computed twice";
      EXPECT_TRUE(is_complete(file, world.plan));
      expect_same(read_searched(file, world.plan), whole);
      CountingGame again(planted);
      expect_same(world.run(again, &file), whole);
      EXPECT_EQ(again.evaluations, 0U);
    }
  }
}

TEST(Searched, ShardsMakeTheWhole) {
  PlantedGame planted(noisy("mix", 40));
  const World world(40, 300, 101);
  const SearchedRun whole = world.run(planted, nullptr);
  for (const std::size_t shards : {2U, 3U}) {
    const TemporaryFolder folder;
    std::vector<std::string> parts;
    std::uint64_t reported = 0;
    for (std::size_t s = shards; s >= 1; --s) {
      World part = world;
      part.plan.shard = s;
      part.plan.shards = shards;
      parts.push_back(folder.path(std::to_string(s)));
      RunFile file = RunFile::create(parts.back(), part.plan.to_json());
      CountingGame counting(planted);
      part.run(counting, &file, s);
      reported += counting.evaluations / 40 - whole.found.coalitions.size();
    }
    EXPECT_EQ(reported, whole.coalitions.size());
    merge_runs(parts, folder.path("all"));
    RunFile all = RunFile::open(folder.path("all"), RunFile::Mode::read);
    expect_same(read_searched(all, read_plan(all)), whole);
  }
}

// Cells that the search does not ask for would be reported as if it had.
TEST(Searched, CellsTooManyAreRefused) {
  PlantedGame game(noisy("mix", 40));
  for (const bool split : {true, false}) {
    const World world(40, 200, split ? 60 : 0, split);
    const TemporaryFolder folder;
    RunFile file = RunFile::create(folder.path("run"), world.plan.to_json());
    const SearchedRun run = world.run(game, &file);
    const std::size_t phase = split ? kReportPhase : kSearchPhase;
    CellStore store(&file, phase, 40, cell_width(world.plan));
    Coalition other(40);
    for (std::size_t i = 0; i < 40; i += 3) other = other.with(i);
    while (store.find(other) != CellStore::kAbsent) other = other.with(1 + other.count());
    store.add(other, std::vector<double>(store.width(), -1e6));
    store.save();
    const std::string message = error_of([&] { read_searched(file, world.plan); });
    EXPECT_TRUE(contains(message, "more coalitions")) << message;
    EXPECT_TRUE(contains(error_of([&] { world.run(game, &file); }), "more coalitions"));
  }
}

}  // namespace
}  // namespace hifi
