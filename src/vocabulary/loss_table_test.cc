#include "vocabulary/loss_table.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"

namespace hifi {
namespace {

class LossTables : public ::testing::Test {
 protected:
  LossTable read(const std::string& text, const std::vector<std::string>& players = {}) {
    return read_loss_table(folder_.write("t.csv", text), players);
  }
  std::string refused(const std::string& text, const std::vector<std::string>& players = {}) {
    std::string message = error_of([&] { read(text, players); });
    if (message.starts_with(folder_.path("t.csv: "))) message.erase(0, folder_.path("t.csv: ").size());
    return message;
  }
  TemporaryFolder folder_;
};

TEST_F(LossTables, Complete) {
  const LossTable table = read("coalition,loss\n00,0.5\n10,0.25\n01,-1\n11,0\n");
  EXPECT_EQ(table.players, (std::vector<std::string>{"x1", "x2"}));
  EXPECT_TRUE(table.complete());
  EXPECT_EQ(table.coalitions[1], Coalition::from_mask(2, 1)) << "the first character is the first player";
  EXPECT_EQ(table.losses, (std::vector<double>{0.5, 0.25, -1, 0}));
  EXPECT_TRUE(table.draws.empty() && table.variances.empty());
}

TEST_F(LossTables, PartialWithCountsAndNames) {
  const LossTable table = read("k,loss,note,coalition,var\n5,1,a,000,0\n6,2,b,110,0.5\n", {"a", "b", "c"});
  EXPECT_EQ(table.players, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(table.complete());
  EXPECT_EQ(table.draws, (std::vector<double>{5, 6}));
  EXPECT_EQ(table.variances, (std::vector<double>{0, 0.5}));
}

TEST_F(LossTables, ManyPlayers) {
  const std::string wide(4096, '1');
  EXPECT_EQ(read("coalition,loss\n" + wide + ",1\n").players.size(), 4096U);
  EXPECT_TRUE(contains(refused("coalition,loss\n" + wide + "1,1\n"), "4096"));
}

TEST_F(LossTables, BadTables) {
  EXPECT_EQ(refused("coalition,loss\n"), "the table has no rows");
  EXPECT_TRUE(contains(refused(""), "empty"));
  EXPECT_EQ(refused("loss\n1\n"), "there is no column \"coalition\"");
  EXPECT_EQ(refused("coalition\n1\n"), "there is no column \"loss\"");
  EXPECT_EQ(refused("coalition,loss\n00,1\n000,2\n"),
            "column \"coalition\", data row 2 (line 3): \"000\" has 3 characters, the rows before have 2");
  EXPECT_EQ(refused("coalition,loss\n00,1\n02,2\n"),
            "column \"coalition\", data row 2 (line 3): \"02\" is not a string of 0 and 1");
  EXPECT_EQ(refused("coalition,loss\n00,1\n01,2\n00,3\n"),
            "column \"coalition\", data row 3 (line 4): \"00\" is there already, in data row 1 (line 2)");
  EXPECT_EQ(refused("coalition,loss\n00,1\n,2\n"),
            "column \"coalition\", data row 2 (line 3): it is missing");
  EXPECT_EQ(refused("coalition,loss\n0,1\n1,\n"), "column \"loss\", data row 2 (line 3): it is missing");
  EXPECT_EQ(refused("coalition,loss\n0,1\n1,nan\n"), "column \"loss\", data row 2 (line 3): it is missing");
  EXPECT_EQ(refused("coalition,loss\n0,1\n1,-inf\n"), "column \"loss\", data row 2 (line 3): it is infinite");
  EXPECT_TRUE(contains(refused("coalition,loss\n0,1\n1,x\n"), "is \"x\", not a number"));
  EXPECT_TRUE(
      contains(refused("coalition,loss,k\n0,1,0\n"), "0 is out of range: a cell has at least one draw"));
  EXPECT_TRUE(contains(refused("coalition,loss,var\n0,1,-1\n"), "a variance is not negative"));
  EXPECT_TRUE(
      contains(refused("coalition,loss,k\n0,1,\n"), "column \"k\", data row 1 (line 2): it is missing"));
  EXPECT_TRUE(contains(refused("coalition,loss\n0,1\n", {"a", "b"}), "--players names 2 players"));
  EXPECT_TRUE(contains(error_of([&] { read_loss_table(folder_.path("gone"), {}); }), "gone"));
  EXPECT_TRUE(contains(error_of([&] { read_loss_table(folder_.path(), {}); }), "directory"));
}

}  // namespace
}  // namespace hifi
