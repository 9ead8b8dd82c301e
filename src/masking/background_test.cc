#include "masking/background.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/test_folder.h"
#include "masking/test_table.h"

namespace hifi {
namespace {

struct World {
  Frame data{.rows = 4, .width = 3, .values = {1, 10, 0, 2, 20, 1, 3, kMissing, 0, 6, 30, 1}};
  InputColumns columns{.names = {"a", "b", "c"}, .categories = {{}, {}, {}}};
  Players players = players_from_columns({"a", "b", "c"}, columns.names);

  Background make(const std::string& spec, bool exact = false, std::uint64_t seed = 0) const {
    return make_background(spec, std::nullopt, data, columns, players, exact, seed);
  }
};

std::vector<double> row(const Frame& frame, std::size_t r) {
  return {frame.row(r).begin(), frame.row(r).end()};
}

TEST(Background, Data) {
  const Background background = World().make("data", true);
  EXPECT_TRUE(background.is_data);
  EXPECT_FALSE(background.fixed);
  EXPECT_EQ(background.frame.rows, 4U);
  EXPECT_EQ(row(background.frame, 0), row(World().data, 0));
  EXPECT_TRUE(contains(background.description, "may meet itself"));
  EXPECT_EQ(background.spec, "data");
  EXPECT_EQ(background.hash.size(), 32U);
}

TEST(Background, MeanLeavesMissingValuesOut) {
  const Background background = World().make("mean", true);
  EXPECT_TRUE(background.fixed);
  EXPECT_EQ(background.frame.rows, 1U);
  EXPECT_EQ(row(background.frame, 0), (std::vector<double>{3, 20, 0.5}));
  World world;
  world.data = {.rows = 1, .width = 3, .values = {1, kMissing, 2}};
  EXPECT_TRUE(std::isnan(world.make("mean").frame.values[1]));
}

TEST(Background, MeanOfCategoriesIsRefusedOnlyWhereItWouldBeUsed) {
  World world;
  world.columns.categories[1] = {"x", "y"};
  EXPECT_TRUE(contains(error_of([&] { world.make("mean"); }), "column \"b\" holds categories"));
  world.players = players_from_columns({"a", "c"}, world.columns.names);
  const Background background = world.make("mean");
  EXPECT_EQ(background.frame.values[0], 3);
  EXPECT_EQ(background.frame.values[2], 0.5);
}

TEST(Background, RowCountsFromZero) {
  EXPECT_EQ(row(World().make("row:3", true).frame, 0), row(World().data, 3));
  EXPECT_TRUE(World().make("row:0").fixed);
  EXPECT_EQ(error_of([] { World().make("row:4"); }), "--background row:4: the data has rows 0 to 3");
  for (const char* bad : {"row:", "row:-1", "row:1.5", "row:x", "row:1 ", "row:99999999999999999999"}) {
    EXPECT_TRUE(contains(error_of([&] { World().make(bad); }, ErrorCode::usage), "whole number")) << bad;
  }
}

TEST(Background, MarginalsKeepEachColumnAndBreakTheRows) {
  World world;
  world.data = {.rows = 500, .width = 3, .values = std::vector<double>(1500)};
  for (std::size_t r = 0; r < 500; ++r) {
    for (std::size_t c = 0; c < 3; ++c) world.data.row(r)[c] = static_cast<double>(r);
  }
  const Background background = world.make("marginals", false, 7);
  EXPECT_TRUE(background.product);
  std::size_t intact = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    std::set<double> values;
    for (std::size_t r = 0; r < 500; ++r) values.insert(background.frame.row(r)[c]);
    EXPECT_EQ(values.size(), 500U);
  }
  for (std::size_t r = 0; r < 500; ++r) intact += background.frame.row(r)[0] == background.frame.row(r)[1];
  EXPECT_LT(intact, 10U);
  EXPECT_EQ(world.make("marginals", false, 7).hash, background.hash);
  EXPECT_NE(world.make("marginals", false, 8).hash, background.hash);
  EXPECT_TRUE(contains(error_of([&] { world.make("marginals", true); }), "cannot be enumerated"));
}

TEST(Background, UniformBinaryEnumeratesThePlayersColumns) {
  World world;
  world.data = {.rows = 2, .width = 3, .values = {0, 5, 1, 1, 7, 0}};
  world.players = players_from_columns({"c", "a"}, world.columns.names);
  for (const bool exact : {false, true}) {
    const Background background = world.make("uniform-binary", exact);
    EXPECT_TRUE(background.fixed);
    ASSERT_EQ(background.frame.rows, 4U);
    std::set<std::pair<double, double>> seen;
    for (std::size_t r = 0; r < 4; ++r) seen.emplace(background.frame.row(r)[0], background.frame.row(r)[2]);
    EXPECT_EQ(seen, (std::set<std::pair<double, double>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  }
  world.data.values[2] = 0.5;
  EXPECT_EQ(error_of([&] { world.make("uniform-binary"); }),
            "--background uniform-binary: column \"c\", data row 1 is 0.5, not 0 or 1");
  world.data.values[2] = kMissing;
  EXPECT_TRUE(contains(error_of([&] { world.make("uniform-binary"); }), "is nan, not 0 or 1"));
}

TEST(Background, UniformBinarySamplesBeyondSixteenColumns) {
  World world;
  world.columns = {};
  for (int c = 0; c < 25; ++c) world.columns.names.push_back(std::to_string(c));
  world.columns.categories.resize(25);
  world.data = {.rows = 1, .width = 25, .values = std::vector<double>(25)};
  world.players = players_from_columns(world.columns.names, world.columns.names);
  const Background background = world.make("uniform-binary", false, 3);
  EXPECT_FALSE(background.fixed);
  EXPECT_EQ(background.frame.rows, 65'536U);
  double ones = 0;
  for (const double v : background.frame.values) ones += v;
  EXPECT_NEAR(ones / static_cast<double>(background.frame.values.size()), 0.5, 0.002);
  EXPECT_TRUE(contains(error_of([&] { world.make("uniform-binary", true); }), "2^25 rows"));
}

TEST(Background, ATableOfItsOwn) {
  const World world;
  for (const char* name : {"data", "uniform-binary", "marginals", "mean", "row:1"}) {
    EXPECT_FALSE(is_background_table(name)) << name;
  }
  EXPECT_TRUE(is_background_table("b.csv"));
  const auto make = [&](const Table& table) {
    return make_background("b.csv", table, world.data, world.columns, world.players, false, 0);
  };
  const Background background =
      make(table_of({number_column("c", {7, 8}), number_column("a", {1, 2}), number_column("b", {3, 4})}));
  EXPECT_EQ(row(background.frame, 1), (std::vector<double>{2, 4, 8}));
  EXPECT_FALSE(background.is_data || background.fixed);
  EXPECT_TRUE(contains(error_of([&] { make(table_of({number_column("a", {1})})); }), "no column \"b\""));
  EXPECT_TRUE(contains(error_of([&] { make(table_of({number_column("a", {})})); }), "no rows"));
}

}  // namespace
}  // namespace hifi
