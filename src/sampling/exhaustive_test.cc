#include "sampling/exhaustive.h"

#include <gtest/gtest.h>

#include "core/interrupt.h"
#include "core/test_folder.h"
#include "game/test_world.h"
#include "vocabulary/test_plan.h"

namespace hifi {
namespace {

RunPlan plan_of(const DrawPlan& draws, std::size_t players) {
  RunPlan plan = test_plan();
  plan.players.assign(players, "p");
  plan.draws = draws.draws();
  plan.instance_blocks = draws.instance_blocks();
  plan.background_blocks = draws.background_blocks();
  plan.round_blocks = draws.round_blocks();
  const DrawPlan::Weights weights = draws.weights();
  plan.instance_weights = weights.instance;
  plan.background_weights = weights.background;
  plan.round_weights = weights.round;
  return plan;
}

LatticeState run(Game& game, const DrawPlan& draws, const RunPlan& plan, LatticeStore* store,
                 std::size_t threads = 1) {
  Workers workers(threads);
  Progress progress(1, 0, {});
  LatticeState state = store != nullptr ? store->load() : LatticeState::start(plan);
  run_exhaustive(game, draws, plan, state, store, workers, progress);
  return state;
}

void expect_same(const Lattice& a, const Lattice& b) {
  EXPECT_EQ(a.instance, b.instance);
  EXPECT_EQ(a.sums.background, b.sums.background);
  EXPECT_EQ(a.sums.round, b.sums.round);
  EXPECT_EQ(a.sums.squares, b.sums.squares);
}

TEST(Exhaustive, MeansAreThoseOfEveryDrawByHand) {
  const TestWorld world(1, 11, 6, 4, 1, true);
  for (const std::uint64_t count : {std::uint64_t{66}, std::uint64_t{40}, std::uint64_t{5}}) {
    const DrawPlan draws({.instances = 11, .background_rows = 6, .seed = 2, .draws = count});
    TableGame game = world.game(13);
    const Lattice lattice = run(game, draws, plan_of(draws, 4), nullptr).lattice;
    const auto means = lattice.means();
    const auto variances = lattice.variances();
    for (std::uint64_t mask = 0; mask < 16; ++mask) {
      double mean = 0;
      double squares = 0;
      for (const Draw& d : all_draws(draws)) {
        const double loss = world.reference(Coalition::from_mask(4, mask), d);
        mean += loss / static_cast<double>(count);
        squares += loss * loss;
      }
      EXPECT_NEAR(means[mask], mean, 1e-13);
      const auto k = static_cast<double>(count);
      EXPECT_NEAR(variances[mask], (squares - k * mean * mean) / (k - 1), 1e-12);
    }
  }
}

TEST(Exhaustive, ThreadsDoNotChangeABit) {
  const TestWorld world(2, 40, 9, 6);
  const DrawPlan draws({.instances = 40, .background_rows = 9, .seed = 2, .draws = 300});
  TableGame game = world.game(50);
  const Lattice one = run(game, draws, plan_of(draws, 6), nullptr, 1).lattice;
  for (const std::size_t threads : {2U, 5U}) {
    expect_same(run(game, draws, plan_of(draws, 6), nullptr, threads).lattice, one);
  }
}

// A game that stops the run at a call of `accumulate`, as an interrupt or a broken model would.
class StoppingGame : public Game {
 public:
  StoppingGame(Game& game, std::size_t stop_at) : game_(game), stop_at_(stop_at) {}
  std::size_t players() const override { return game_.players(); }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override {
    if (++calls == stop_at_) throw Error(ErrorCode::interrupted, "interrupted");
    game_.losses(coalitions, draws, out, workers);
  }
  std::size_t calls = 0;

 private:
  Game& game_;
  std::size_t stop_at_;
};

TEST(Exhaustive, StoppedAnywhereAndResumedIsTheSameRun) {
  const TestWorld world(3, 12, 5, 3);
  for (const std::uint64_t count : {std::uint64_t{60}, std::uint64_t{47}}) {
    const DrawPlan draws({.instances = 12, .background_rows = 5, .seed = 2, .draws = count, .blocks = 4});
    const RunPlan plan = plan_of(draws, 3);
    TableGame game = world.game(13);
    const Lattice whole = run(game, draws, plan, nullptr).lattice;
    for (std::size_t stop = 1; stop <= draws.instance_blocks(); ++stop) {
      const TemporaryFolder folder;
      RunFile file = RunFile::create(folder.path("run"), plan.to_json());
      StoppingGame stopping(game, stop);
      LatticeStore store(file, plan);
      EXPECT_EQ(error_of([&] { run(stopping, draws, plan, &store); }, ErrorCode::interrupted), "interrupted");
      EXPECT_FALSE(is_complete(file, plan));
      LatticeStore again(file, plan);
      StoppingGame counting(game, 0);
      expect_same(run(counting, draws, plan, &again).lattice, whole);
      EXPECT_EQ(counting.calls, draws.instance_blocks() - stop + 1) << "nothing is computed twice";
      expect_same(read_lattice(file, plan), whole);
    }
  }
}

// Units are a million evaluations; here a block has several.
class CheapGame : public Game {
 public:
  explicit CheapGame(std::size_t players) : players_(players) {}
  std::size_t players() const override { return players_; }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers&) override {
    for (std::size_t d = 0; d < draws.size(); ++d) {
      for (std::size_t c = 0; c < coalitions.size(); ++c) {
        out[d * coalitions.size() + c] =
            1.0 / static_cast<double>(1 + (coalitions.first() + c) % 97 + draws[d].instance * 3 +
                                      draws[d].background);
      }
    }
  }

 private:
  std::size_t players_;
};

TEST(Exhaustive, StoppedWithinABlock) {
  CheapGame game(14);
  const DrawPlan draws({.instances = 20, .background_rows = 40, .seed = 2, .draws = 800, .blocks = 2});
  const RunPlan plan = plan_of(draws, 14);
  const Lattice whole = run(game, draws, plan, nullptr).lattice;
  for (const std::size_t stop : {2U, 7U, 8U, 13U}) {
    const TemporaryFolder folder;
    RunFile file = RunFile::create(folder.path("run"), plan.to_json());
    StoppingGame stopping(game, stop);
    LatticeStore store(file, plan);
    error_of([&] { run(stopping, draws, plan, &store); }, ErrorCode::interrupted);
    LatticeStore again(file, plan);
    StoppingGame counting(game, 0);
    expect_same(run(counting, draws, plan, &again).lattice, whole);
    EXPECT_EQ(counting.calls, 14 - stop + 1);
  }
}

TEST(ExhaustiveDeathTest, AnInterruptIsSavedWhateverTheSizeOfTheLattice) {
  for (const std::size_t players : {3U, 17U}) {
    const TemporaryFolder folder;
    const DrawPlan draws({.instances = 20, .background_rows = 2, .seed = 2, .draws = 40, .blocks = 2});
    const RunPlan plan = plan_of(draws, players);
    EXPECT_EXIT(
        {
          RunFile file = RunFile::create(folder.path("run"), plan.to_json());
          LatticeStore store(file, plan);
          CheapGame game(players);
          LatticeState state = store.load();
          Workers workers(1);
          Progress progress(40U << players, 0, [](const ProgressReport&) {});
          state.draws_done = 8;  // as if they had been done
          request_interrupt();
          try {
            run_exhaustive(game, draws, plan, state, &store, workers, progress);
          } catch (const Error& error) {
            std::exit(LatticeStore(file, plan).load().draws_done == 8 ? static_cast<int>(error.code()) : 1);
          }
        },
        ::testing::ExitedWithCode(5), "");
  }
}

TEST(Exhaustive, ShardsAddUpToTheWholeEvenWithoutDrawsInABlock) {
  const TestWorld world(4, 30, 3, 3);
  std::vector<std::uint32_t> clusters;
  for (std::uint32_t i = 0; i < 30; ++i) clusters.push_back(i / 2);
  for (const std::uint64_t count : {std::uint64_t{90}, std::uint64_t{15}}) {
    const DrawPlan draws({.instances = 30,
                          .background_rows = 3,
                          .seed = 2,
                          .draws = count,
                          .blocks = 32,
                          .clusters = clusters});
    const RunPlan plan = plan_of(draws, 3);
    bool has_empty_block = false;
    for (std::size_t b = 0; b < draws.instance_blocks(); ++b) has_empty_block |= draws.block_draws(b) == 0;
    EXPECT_EQ(has_empty_block, count == 15);
    TableGame game = world.game(20);
    const Lattice whole = run(game, draws, plan, nullptr).lattice;
    for (std::size_t shards = 2; shards <= 5; ++shards) {
      const TemporaryFolder folder;
      std::vector<std::string> parts;
      for (std::size_t s = 1; s <= shards; ++s) {
        RunPlan shard = plan;
        shard.shard = s;
        shard.shards = shards;
        parts.push_back(folder.path(std::to_string(s)));
        RunFile file = RunFile::create(parts.back(), shard.to_json());
        StoppingGame stopping(game, 2);
        LatticeStore first(file, shard);
        error_of([&] { run(stopping, draws, shard, &first); }, ErrorCode::interrupted);
        LatticeStore second(file, shard);
        run(game, draws, shard, &second, 2);
      }
      merge_runs(parts, folder.path("all"));
      const RunFile all = RunFile::open(folder.path("all"), RunFile::Mode::read);
      expect_same(read_lattice(all, read_plan(all)), whole);
    }
  }
}

TEST(Exhaustive, ProgressCountsEveryEvaluationOnce) {
  const TestWorld world(3, 12, 5, 3);
  const DrawPlan draws({.instances = 12, .background_rows = 5, .seed = 2, .draws = 60});
  const RunPlan plan = plan_of(draws, 3);
  TableGame game = world.game(100);
  Workers workers(1);
  LatticeState state = LatticeState::start(plan);
  Progress progress(60 * 8, 0, {});
  run_exhaustive(game, draws, plan, state, nullptr, workers, progress);
  EXPECT_EQ(progress.report().done, 60U * 8U);
  EXPECT_EQ(state.block, plan.end_block());
}

}  // namespace
}  // namespace hifi
