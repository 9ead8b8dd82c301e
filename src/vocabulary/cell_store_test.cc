#include "vocabulary/cell_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "core/test_folder.h"
#include "vocabulary/lattice_store.h"
#include "vocabulary/test_plan.h"
#include "vocabulary/visits.h"

namespace hifi {
namespace {

void execute(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// Five cells of 70 players with three numbers each.
struct Cells {
  static constexpr std::size_t kPlayers = 70;
  TemporaryFolder folder;
  std::string path = folder.path("run");
  std::vector<Coalition> coalitions;

  Cells() {
    RunFile file = RunFile::create(path, "{}");
    CellStore store(&file, kReportPhase, kPlayers, 3);
    for (std::size_t k = 0; k < 5; ++k) {
      coalitions.push_back(Coalition(kPlayers).with(69 - 13 * k).with(k));
      const double x = static_cast<double>(k) / 3;
      store.add(coalitions.back(), std::vector{x, -x, 1e300});
      if (k == 2) store.save();  // in two goes
    }
    store.save();
    store.save();  // nothing is left to write
  }

  std::string error() const {
    return error_of([&] {
      RunFile file = RunFile::open(path, RunFile::Mode::read);
      CellStore(&file, kReportPhase, kPlayers, 3);
    });
  }
};

TEST(CellStore, GivesBackWhatItWasGivenInOrder) {
  const Cells cells;
  RunFile file = RunFile::open(cells.path, RunFile::Mode::read);
  const CellStore store(&file, kReportPhase, Cells::kPlayers, 3);
  EXPECT_EQ(store.coalitions(), cells.coalitions);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(store.find(cells.coalitions[k]), k);
    EXPECT_EQ(store.values(k)[0], static_cast<double>(k) / 3);
    EXPECT_EQ(store.values(k)[2], 1e300);
  }
  EXPECT_EQ(store.find(Coalition(Cells::kPlayers)), CellStore::kAbsent);
  EXPECT_EQ(CellStore(&file, kSearchPhase, Cells::kPlayers, 3).size(), 0U) << "phases are apart";
}

TEST(CellStore, WorksWithoutAFile) {
  CellStore store(nullptr, kSearchPhase, 2, 1);
  store.add(Coalition(2), std::vector{1.0});
  store.save();
  EXPECT_EQ(store.find(Coalition(2)), 0U);
}

TEST(CellStore, DamageIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"DELETE FROM cells WHERE position = 1", "cell 1/1 is missing"},
      {"UPDATE cells SET data = zeroblob(24) WHERE position = 2", "cell 1/2 is not what was written"},
      {"UPDATE cells SET data = zeroblob(16) WHERE position = 2", "cell 1/2 is of the wrong size"},
      {"UPDATE cells SET coalition = '01' WHERE position = 3", "cell 1/3 is of no coalition"},
      {"UPDATE cells SET coalition = replace(coalition, '1', 'x') WHERE position = 3", "of no coalition"},
      {"UPDATE cells SET hash = 'x' WHERE position = 0", "cell 1/0 is not what was written"},
      // The numbers of one coalition under the name of another.
      {"UPDATE cells SET coalition = replace(coalition, '1', '0') WHERE position = 4",
       "cell 1/4 is not what was written"},
      {"INSERT INTO cells SELECT 1, 5, coalition, hash, data FROM cells WHERE position = 0", "twice"},
  };
  for (const auto& [sql, expected] : cases) {
    const Cells cells;
    execute(cells.path, sql);
    const std::string message = cells.error();
    EXPECT_TRUE(contains(message, expected)) << sql << ": " << message;
    EXPECT_TRUE(contains(message, cells.path)) << message;
  }
  EXPECT_EQ(Cells().error(), "no error");
}

TEST(CellStore, CellsBecomeALattice) {
  RunPlan plan = test_plan();  // 4, 3 and 2 blocks
  CellStore store(nullptr, kReportPhase, 2, cell_width(plan));
  EXPECT_EQ(store.width(), 10U);
  store.add(Coalition::from_mask(2, 3), std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  store.add(Coalition::from_mask(2, 0), std::vector<double>{10, 20, 30, 40, 50, 60, 70, 80, 90, 100});
  const Lattice lattice = lattice_of(store, plan);
  EXPECT_EQ(lattice.instance[3], (std::vector<double>{4, 40}));
  EXPECT_EQ(lattice.sums.background[0], (std::vector<double>{5, 50}));
  EXPECT_EQ(lattice.sums.round[1], (std::vector<double>{9, 90}));
  EXPECT_EQ(lattice.sums.squares, (std::vector<double>{10, 100}));
  EXPECT_NEAR(lattice.means()[1], 100.0 / 12, 1e-14);
  EXPECT_EQ(search_width(plan), 10U);
  plan.search.split = true;
  EXPECT_EQ(search_width(plan), 1U);
}

// What shards took in turns comes out in the order of an undivided run.
TEST(CellStore, MergedSharesAreInTheOrderOfTheWhole) {
  const TemporaryFolder folder;
  RunPlan plan = test_plan();
  plan.players.assign(70, "p");
  plan.search.split = true;
  for (const std::size_t count : {7U, 2U}) {  // the last shard may have nothing
    std::vector<std::string> parts;
    std::vector<Coalition> whole;
    for (std::size_t k = 0; k < count; ++k) whole.push_back(Coalition(70).with(69 - 9 * k));
    for (std::size_t s = 0; s < 3; ++s) {
      parts.push_back(folder.path(std::to_string(count) + "." + std::to_string(s)));
      RunFile file = RunFile::create(parts.back(), plan.to_json());
      CellStore searched(&file, kSearchPhase, 70, 1);
      searched.add(Coalition(70), std::vector{4.0});
      searched.save();
      CellStore reported(&file, kReportPhase, 70, cell_width(plan));
      for (std::size_t k = s; k < count; k += 3)
        reported.add(whole[k], std::vector<double>(10, static_cast<double>(k)));
      reported.save();
    }
    RunFile out = RunFile::create(folder.path(std::to_string(count)), plan.to_json());
    merge_cells(parts, plan, out);
    const CellStore merged(&out, kReportPhase, 70, cell_width(plan));
    EXPECT_EQ(merged.coalitions(), whole);
    for (std::size_t k = 0; k < merged.size(); ++k) EXPECT_EQ(merged.values(k)[0], static_cast<double>(k));
    EXPECT_EQ(CellStore(&out, kSearchPhase, 70, 1).size(), 1U);
  }
}

std::vector<Visit> some_visits() {
  return {{.coalition = Coalition(3), .range = 0, .slices = {1, 2}},
          {.coalition = Coalition(3).with(2), .range = 0, .slices = {.5, -2}},
          {.coalition = Coalition(3), .range = 4'000'000'000'000, .slices = {1e-300, 2}},
          {.coalition = Coalition(3).with(1), .range = 7, .first = 0, .second = 2, .slices = {3, 4}}};
}

void put_visits(const std::string& path) {
  RunFile file = RunFile::create(path, "{}");
  VisitStore store(&file, 3, 2);
  for (const Visit& visit : some_visits()) {
    store.add(visit);
    store.save([&] { file.log("saved"); });
  }
  EXPECT_EQ(file.log_lines().size(), 4U);
}

TEST(VisitStore, GivesBackWhatItWasGivenInOrder) {
  const TemporaryFolder folder;
  put_visits(folder.path("run"));
  RunFile file = RunFile::open(folder.path("run"), RunFile::Mode::read);
  const VisitStore store(&file, 3, 2);
  const std::vector<Visit> expected = some_visits();
  ASSERT_EQ(store.visits().size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    const Visit& visit = store.visits()[k];
    EXPECT_EQ(visit.coalition, expected[k].coalition);
    EXPECT_EQ(visit.range, expected[k].range);
    EXPECT_EQ(visit.first, expected[k].first);
    EXPECT_EQ(visit.second, expected[k].second);
    EXPECT_EQ(visit.slices, expected[k].slices);
    EXPECT_EQ(visit.is_side(), k == 3);
  }
}

TEST(VisitStore, DamageIsNamed) {
  for (const char* sql : {"DELETE FROM cells WHERE position = 1", "UPDATE cells SET coalition = '111'",
                          "UPDATE cells SET data = zeroblob(40) WHERE position = 0"}) {
    const TemporaryFolder folder;
    put_visits(folder.path("run"));
    execute(folder.path("run"), sql);
    RunFile file = RunFile::open(folder.path("run"), RunFile::Mode::read);
    const std::string message = error_of([&] { VisitStore(&file, 3, 2); });
    EXPECT_TRUE(contains(message, folder.path("run")) && contains(message, "cell 2/")) << message;
  }
  // Numbers that no visit has, under a matching hash.
  for (const std::vector<double>& head : {std::vector<double>{-1, 0, 0}, {.5, 0, 0}, {0, 4, 0}, {0, 0, -1}}) {
    const TemporaryFolder folder;
    RunFile file = RunFile::create(folder.path("run"), "{}");
    std::vector<double> values = head;
    values.resize(5, 1.0);
    file.commit([&] { file.put_cell(2, 0, Coalition(3), values); });
    EXPECT_TRUE(contains(error_of([&] { VisitStore(&file, 3, 2); }), "out of range"));
  }
}

}  // namespace
}  // namespace hifi
