#include "vocabulary/lattice_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "core/random.h"
#include "core/test_folder.h"
#include "vocabulary/test_plan.h"

namespace hifi {
namespace {

using Mode = RunFile::Mode;

void fill(BlockSums& sums, std::uint64_t index) {
  RandomStream random(1, Purpose::probe, index);
  for (auto* group : {&sums.background, &sums.round}) {
    for (auto& array : *group) {
      for (double& value : array) value = random.uniform();
    }
  }
  for (double& value : sums.squares) value = random.uniform();
}

void expect_same(const BlockSums& a, const BlockSums& b) {
  EXPECT_EQ(a.background, b.background);
  EXPECT_EQ(a.round, b.round);
  EXPECT_EQ(a.squares, b.squares);
}

void expect_same(const LatticeState& a, const LatticeState& b) {
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.draws_done, b.draws_done);
  EXPECT_EQ(a.lattice.instance, b.lattice.instance);
  expect_same(a.lattice.sums, b.lattice.sums);
  if (a.draws_done > 0) expect_same(a.tile, b.tile);
}

// Runs the blocks of a plan: the tile of block b is random number b. `saves` tells after which blocks to
// save.
LatticeState run(const RunPlan& plan, LatticeStore* store, unsigned saves = 0) {
  LatticeState state = LatticeState::start(plan);
  while (state.block < plan.end_block()) {
    fill(state.tile, state.block);
    state.draws_done = 3;
    if (plan.shards > 1 && store != nullptr) store->save(state);
    if (plan.shards == 1) state.lattice.add_tile(state.block, state.tile);
    clear(state.tile);
    state.draws_done = 0;
    ++state.block;
    if (store != nullptr && (saves >> state.block) & 1U) store->save(state);
  }
  if (store != nullptr) store->save(state);
  return state;
}

std::string shard_file(const TemporaryFolder& folder, RunPlan plan, std::size_t shard, std::size_t shards) {
  plan.shard = shard;
  plan.shards = shards;
  const std::string path = folder.path(std::to_string(shard) + "of" + std::to_string(shards));
  RunFile file = RunFile::create(path, plan.to_json());
  LatticeStore store(file, plan);
  run(plan, &store);
  return path;
}

TEST(LatticeStore, AnEmptyFileIsTheStart) {
  const TemporaryFolder folder;
  const RunPlan plan = test_plan();
  RunFile file = RunFile::create(folder.path("run"), plan.to_json());
  expect_same(LatticeStore(file, plan).load(), LatticeState::start(plan));
  EXPECT_FALSE(is_complete(file, plan));
}

TEST(LatticeStore, RoundTripsAtAnyMoment) {
  const RunPlan plan = test_plan();
  for (const unsigned saves : {0b0000U, 0b0001U, 0b0110U, 0b1111U}) {
    for (std::size_t at = 0; at <= 4; ++at) {
      for (const std::uint64_t draws : {std::uint64_t{0}, std::uint64_t{2}}) {
        if (at == 4 && draws > 0) continue;
        const TemporaryFolder folder;
        RunFile file = RunFile::create(folder.path("run"), plan.to_json());
        LatticeStore store(file, plan);
        LatticeState state = LatticeState::start(plan);
        for (std::size_t b = 0; b < at; ++b) {
          fill(state.tile, b);
          state.draws_done = 1;
          if ((saves >> b) & 1U) store.save(state);  // in the middle of the block
          state.lattice.add_tile(b, state.tile);
          clear(state.tile);
          state.draws_done = 0;
          ++state.block;
        }
        if (draws > 0) fill(state.tile, at);
        state.draws_done = draws;
        store.save(state);
        expect_same(LatticeStore(file, plan).load(), state);
        EXPECT_EQ(is_complete(file, plan), at == 4);
      }
    }
  }
}

TEST(LatticeStore, SavingGoesOnAfterLoading) {
  const TemporaryFolder folder;
  const RunPlan plan = test_plan();
  {
    RunFile file = RunFile::create(folder.path("run"), plan.to_json());
    LatticeStore store(file, plan);
    LatticeState state = LatticeState::start(plan);
    fill(state.tile, 0);
    state.draws_done = 2;
    store.save(state);
  }
  RunFile file = RunFile::open(folder.path("run"), Mode::write);
  LatticeStore store(file, plan);
  LatticeState state = store.load();
  state.lattice.add_tile(0, state.tile);
  clear(state.tile);
  state.block = 1;
  state.draws_done = 0;
  store.save(state);
  expect_same(LatticeStore(file, plan).load(), state);
  std::vector<double> gone(4);
  EXPECT_TRUE(contains(error_of([&] { file.read_array("tile 0", 0, gone); }), "missing"))
      << "it is in the sums";
}

TEST(LatticeStore, ReadsBackTheLattice) {
  const TemporaryFolder folder;
  const RunPlan plan = test_plan();
  RunFile file = RunFile::create(folder.path("run"), plan.to_json());
  LatticeStore store(file, plan);
  const LatticeState whole = run(plan, &store, 0b0110);
  EXPECT_TRUE(is_complete(file, plan));
  const Lattice lattice = read_lattice(file, read_plan(file));
  EXPECT_EQ(lattice.means(), whole.lattice.means());
  EXPECT_EQ(lattice.variances(), whole.lattice.variances());
  EXPECT_EQ(lattice.draws, 12U);
}

TEST(Merge, EqualsTheUndividedRunToTheBit) {
  RunPlan plan = test_plan();
  reshape(plan, 12, 5, 3, 2);
  const LatticeState whole = run(plan, nullptr);
  for (std::size_t shards = 2; shards <= 5; ++shards) {
    const TemporaryFolder folder;
    std::vector<std::string> parts;
    for (std::size_t s = shards; s >= 1; --s) parts.push_back(shard_file(folder, plan, s, shards));
    std::rotate(parts.begin(), parts.begin() + 1, parts.end());
    merge_runs(parts, folder.path("all"));
    EXPECT_EQ(folder.entries(), shards + 1);
    const RunFile file = RunFile::open(folder.path("all"), Mode::read);
    const RunPlan merged = read_plan(file);
    EXPECT_EQ(merged.shards, 1U);
    EXPECT_EQ(RunPlan::difference(merged, plan), "");
    EXPECT_TRUE(is_complete(file, merged));
    const Lattice lattice = read_lattice(file, merged);
    EXPECT_EQ(lattice.instance, whole.lattice.instance);
    expect_same(lattice.sums, whole.lattice.sums);
  }
}

TEST(Merge, RefusesPartsByName) {
  const TemporaryFolder folder;
  const RunPlan plan = test_plan();
  const std::string one = shard_file(folder, plan, 1, 3);
  const std::string two = shard_file(folder, plan, 2, 3);
  const std::string three = shard_file(folder, plan, 3, 3);
  const std::string half = shard_file(folder, plan, 2, 2);
  const std::string whole = shard_file(folder, plan, 1, 1);
  RunPlan other_plan = plan;
  other_plan.provenance = R"({"model":{"hash":"y"}})";
  std::filesystem::create_directory(folder.path("other"));
  RunPlan seed = plan;
  seed.options = R"({"seed":2,"model":"m"})";
  seed.shard = 2;
  seed.shards = 3;
  RunFile::create(folder.path("seed"), seed.to_json());
  RunPlan young = plan;
  young.shard = 2;
  young.shards = 3;
  RunFile::create(folder.path("young"), young.to_json());
  const std::size_t before = folder.entries();
  const auto refused = [&](const std::vector<std::string>& parts) {
    const std::string message = error_of([&] { merge_runs(parts, folder.path("all")); });
    EXPECT_FALSE(std::filesystem::exists(folder.path("all")));
    EXPECT_EQ(folder.entries(), before);
    return message;
  };
  EXPECT_EQ(refused({one, three}), "shard 2/3 is missing");
  EXPECT_EQ(refused({one, two, two, three}), two + " and " + two + " are both shard 2/3");
  EXPECT_EQ(refused({one, half}), one + " and " + half + " are shards of different divisions: 3 and 2 parts");
  EXPECT_EQ(refused({whole}), whole + ": is not a shard, there is nothing to merge");
  EXPECT_EQ(refused({one, folder.path("seed"), three}),
            one + " and " + folder.path("seed") + " are parts of different runs: options/seed: 1 and 2");
  EXPECT_EQ(refused({one, folder.path("young"), three}),
            folder.path("young") + ": shard 2/3 is not finished");
  EXPECT_TRUE(contains(refused({one, folder.path("gone"), three}), "gone: No such file"));
  EXPECT_TRUE(contains(refused({one, folder.path("other"), three}), "other: is a directory"));
  EXPECT_NE(error_of([&] { merge_runs({one, two, three}, folder.path("no/where")); }), "no error");
  std::filesystem::create_directory(folder.path("taken"));
  EXPECT_TRUE(contains(error_of([&] {
                         merge_runs({one, two, three}, folder.path("taken"));
                       }),
                       "cannot be written"));
  EXPECT_EQ(folder.entries(), before + 1);
}

TEST(Merge, ABlockWithoutDrawsIsABlock) {
  const TemporaryFolder folder;
  RunPlan plan = test_plan();
  plan.shards = 2;
  std::vector<std::string> parts;
  for (plan.shard = 1; plan.shard <= 2; ++plan.shard) {
    parts.push_back(folder.path(std::to_string(plan.shard)));
    RunFile file = RunFile::create(parts.back(), plan.to_json());
    LatticeStore store(file, plan);
    LatticeState state = LatticeState::start(plan);
    while (state.block < plan.end_block()) {
      store.save(state);
      ++state.block;
    }
    store.save(state);
  }
  merge_runs(parts, folder.path("all"));
  const RunFile file = RunFile::open(folder.path("all"), Mode::read);
  EXPECT_EQ(read_lattice(file, read_plan(file)).means(), (std::vector<double>{0, 0, 0, 0}));
}

// Claims that no file of this size can keep are refused before memory is taken for them.
TEST(LatticeStore, HugeClaims) {
  const TemporaryFolder folder;
  RunPlan plan = test_plan();
  plan.players.assign(30, "p");
  reshape(plan, 12, 512, 512, 512);
  const auto claim = [&](const char* name, const RunPlan& claimed, const std::string& position) {
    RunFile file = RunFile::create(folder.path(name), claimed.to_json());
    file.commit([&] {
      file.put_text("position", position);
      file.put_array("instance", 0, std::vector<double>(1000));
      file.put_array("sums", 0, std::vector<double>(1000));
    });
  };
  claim("whole", plan, R"({"block":512,"draws":0})");
  RunFile file = RunFile::open(folder.path("whole"), Mode::write);
  EXPECT_TRUE(is_complete(file, plan));
  EXPECT_TRUE(
      contains(error_of([&] { read_lattice(file, plan); }), "array instance is missing or of the wrong"));
  EXPECT_TRUE(contains(error_of([&] { LatticeStore(file, plan).load(); }), "array instance is missing"));
  plan.shards = 2;
  claim("one", plan, R"({"block":256,"draws":0})");
  plan.shard = 2;
  claim("two", plan, R"({"block":512,"draws":0})");
  EXPECT_TRUE(contains(error_of([&] {
                         merge_runs({folder.path("one"), folder.path("two")}, folder.path("all"));
                       }),
                       "array tile 0 is missing"));
}

TEST(LatticeStore, HostilePositions) {
  const TemporaryFolder folder;
  const RunPlan plan = test_plan();
  RunFile file = RunFile::create(folder.path("run"), plan.to_json());
  for (const char* position :
       {"", "x", "[]", "{}", R"({"block":0})", R"({"block":-1,"draws":0})", R"({"block":5,"draws":0})",
        R"({"block":1e300,"draws":0})", R"({"block":0,"draws":-1})", R"({"block":0,"draws":13})",
        R"({"block":"0","draws":0})", R"({"block":0.5,"draws":0})",
        R"({"block":99999999999999999999,"draws":0})"}) {
    file.commit([&] { file.put_text("position", position); });
    EXPECT_TRUE(contains(error_of([&] { LatticeStore(file, plan).load(); }), "position in the run file"))
        << position;
  }
  for (const char* position :
       {R"({"block":2,"draws":0})", R"({"block":0,"draws":1})", R"({"block":4,"draws":0})"}) {
    file.commit([&] { file.put_text("position", position); });
    EXPECT_TRUE(contains(error_of([&] { LatticeStore(file, plan).load(); }), "missing")) << position;
  }
}

}  // namespace
}  // namespace hifi
