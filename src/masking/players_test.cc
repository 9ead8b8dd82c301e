#include "masking/players.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"

namespace hifi {
namespace {

using Names = std::vector<std::string>;
using Columns = std::vector<std::vector<std::uint32_t>>;

TEST(Players, ColumnsInTheOrderAskedFor) {
  const Players players = players_from_columns({"c", "a"}, {"a", "b", "c"});
  EXPECT_EQ(players.names, (Names{"c", "a"}));
  EXPECT_EQ(players.columns, (Columns{{2}, {0}}));
  EXPECT_TRUE(contains(error_of([] {
                         players_from_columns({"a", "x"}, {"a"});
                       }),
                       "--features: \"x\" is no column of the model"));
  EXPECT_TRUE(contains(error_of([] { players_from_columns({"a", "a"}, {"a"}); }), "\"a\" is named twice"));
  EXPECT_TRUE(contains(error_of([] { players_from_columns({}, {"a"}); }), "there are no players"));
}

TEST(Players, TooMany) {
  Names names;
  for (int i = 0; i < 4097; ++i) names.push_back(std::to_string(i));
  EXPECT_TRUE(contains(error_of([&] { players_from_columns(names, names); }), "4097 players are too many"));
  names.pop_back();
  EXPECT_EQ(players_from_columns(names, names).size(), 4096U);
}

TEST(Groups, MoveTogetherInFileOrder) {
  const TemporaryFolder folder;
  const auto path = folder.write("g.json", R"({"z":["c","a"],"age":["b"]})");
  const Players players = players_from_groups(path, {"a", "b", "c", "d"});
  EXPECT_EQ(players.names, (Names{"z", "age"}));
  EXPECT_EQ(players.columns, (Columns{{2, 0}, {1}}));
}

TEST(Groups, BadFiles) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    const std::string path = folder.write("g.json", text);
    const std::string message = error_of([&] { players_from_groups(path, {"a", "b"}); });
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(std::min(message.size(), path.size() + 2));
  };
  EXPECT_EQ(refused(R"({"g":["a"],"h":["a"]})"), "column \"a\" is in two groups, \"g\" and \"h\"");
  EXPECT_EQ(refused(R"({"g":["a","a"]})"), "column \"a\" is twice in group \"g\"");
  EXPECT_EQ(refused(R"({"g":["a"],"g":["b"]})"), "\"g\" is named twice");
  EXPECT_EQ(refused(R"({"g":[]})"), "group \"g\" has no columns");
  EXPECT_EQ(refused(R"({"g":["x"]})"), "\"x\" is no column of the model");
  EXPECT_EQ(refused(R"({"g":"a"})"), "group \"g\" is not a list of column names");
  EXPECT_EQ(refused(R"({"g":[1]})"), "group \"g\" is not a list of column names");
  EXPECT_EQ(refused(R"({"g":{"a":["b"]}})"), "group \"g\" is not a list of column names");
  EXPECT_EQ(refused("[]"), "not an object of groups");
  EXPECT_EQ(refused("{}"), "there are no players");
  EXPECT_TRUE(contains(refused("{"), "not valid JSON"));
  EXPECT_TRUE(contains(refused("\xff{}"), "not valid JSON"));
  EXPECT_TRUE(contains(refused(std::string(100'000, '[')), "not valid JSON"));
  EXPECT_EQ(refused(std::string(100'000, '[') + std::string(100'000, ']')), "not an object of groups");
  EXPECT_TRUE(contains(error_of([&] { players_from_groups(folder.path("gone"), {"a"}); }), "No such file"));
}

}  // namespace
}  // namespace hifi
