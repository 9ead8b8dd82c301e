#include "masking/frame.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "core/test_folder.h"
#include "masking/test_table.h"

namespace hifi {
namespace {

TEST(Frame, TakesTheModelsColumnsInItsOrder) {
  const Table table = table_of({number_column("a", {1, 2}), number_column("unused", {9, 9}),
                                boolean_column("b", {0, 1}), number_column("c", {5, kMissing})});
  const Frame frame = make_frame(table, {.names = {"c", "a", "b"}, .categories = {{}, {}, {}}});
  EXPECT_EQ(frame.rows, 2U);
  EXPECT_EQ(frame.width, 3U);
  EXPECT_EQ(std::vector<double>(frame.values.begin(), frame.values.begin() + 3),
            (std::vector<double>{5, 1, 0}));
  EXPECT_TRUE(std::isnan(frame.row(1)[0]));
  EXPECT_EQ(frame.row(1)[2], 1);
}

TEST(Frame, CategoriesGetTheModelsCodes) {
  const Table table = table_of(
      {text_column("t", {"red", "blue"}, {0, 1, 0, kMissing}), number_column("n", {30, 10, 30, kMissing})});
  const Frame frame =
      make_frame(table, {.names = {"t", "n"}, .categories = {{"blue", "green", "red"}, {"10", "20", "30"}}});
  EXPECT_EQ(frame.row(0)[0], 2);
  EXPECT_EQ(frame.row(1)[0], 0);
  EXPECT_EQ(frame.row(0)[1], 2);
  EXPECT_EQ(frame.row(1)[1], 0);
  EXPECT_TRUE(std::isnan(frame.row(3)[0]) && std::isnan(frame.row(3)[1]));
}

TEST(Frame, MissingValuesHaveOneBitPattern) {
  const double other_nan = std::bit_cast<double>(std::uint64_t{0xfff8000000000123});
  const Table table = table_of({number_column("a", {kMissing, other_nan})});
  const Frame frame = make_frame(table, {.names = {"a"}, .categories = {{}}});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(frame.values[0]), std::bit_cast<std::uint64_t>(frame.values[1]));
}

TEST(Frame, NamesThePlaceOfABadValue) {
  const Table table = table_of({text_column("t", {"red", "pink"}, {0, 1}), number_column("n", {1, 2})});
  EXPECT_EQ(error_of([&] {
              make_frame(table, {.names = {"t"}, .categories = {{"red", "blue"}}});
            }),
            "t.csv: column \"t\", data row 2 (line 3): \"pink\" is no category of the model");
  EXPECT_EQ(error_of([&] {
              make_frame(table, {.names = {"n"}, .categories = {{"1", "3"}}});
            }),
            "t.csv: column \"n\", data row 2 (line 3): \"2\" is no category of the model");
  EXPECT_TRUE(contains(error_of([&] { make_frame(table, {.names = {"t"}, .categories = {{}}}); }),
                       "\"t\": data row 1 (line 2) is \"red\", not a number"));
  EXPECT_TRUE(contains(error_of([&] { make_frame(table, {.names = {"x"}, .categories = {{}}}); }),
                       "there is no column \"x\""));
}

TEST(Frame, HashKnowsValuesNamesShapeAndCategories) {
  const InputColumns columns{.names = {"a", "b"}, .categories = {{}, {}}};
  const Frame frame{.rows = 2, .width = 2, .values = {1, 2, 3, 4}};
  const std::string hash = frame_hash(frame, columns);
  Frame other = frame;
  other.values[3] = 5;
  EXPECT_NE(frame_hash(other, columns), hash);
  EXPECT_NE(frame_hash(frame, {.names = {"b", "a"}, .categories = {{}, {}}}), hash);
  EXPECT_NE(frame_hash(frame, {.names = {"a", "b"}, .categories = {{"x", "y"}, {}}}), hash);
  EXPECT_NE(frame_hash({.rows = 4, .width = 1, .values = frame.values}, {.names = {"a"}, .categories = {{}}}),
            hash);
  EXPECT_EQ(frame_hash(frame, columns), hash);
}

}  // namespace
}  // namespace hifi
