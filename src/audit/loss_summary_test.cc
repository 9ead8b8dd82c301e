#include "audit/loss_summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/test_model.h"

namespace hifi {
namespace {

Loss squared_loss() {
  const TestModel model(1, [](std::span<const double> row) { return row[0]; });
  return Loss({.kind = LossKind::squared}, model.info());
}

TEST(LossSummary, QuantilesInterpolate) {
  const LossQuantiles q = summarise({4, 0, 1, 3, 2});
  EXPECT_EQ(q.min, 0);
  EXPECT_EQ(q.max, 4);
  EXPECT_EQ(q.q50, 2);
  EXPECT_DOUBLE_EQ(q.q05, 0.2);
  EXPECT_DOUBLE_EQ(q.q95, 3.8);
  EXPECT_DOUBLE_EQ(q.top_share, 0.4);  // one of five
}

TEST(LossSummary, IntactAndSwappedRows) {
  const std::vector<double> predictions = {0, 1, 5}, truth = {0, 0, 3};
  const LossSummary s = summarise_losses(squared_loss(), predictions, truth, true);
  EXPECT_FALSE(s.bound.has_value());
  EXPECT_EQ(s.intact.losses, 3U);
  EXPECT_EQ(s.intact.max, 4);      // (5 - 3)^2
  EXPECT_EQ(s.intact.q50, 1);      // (1 - 0)^2
  EXPECT_EQ(s.empty->losses, 9U);  // every answer against every truth
  EXPECT_EQ(s.empty->max, 25);
  EXPECT_FALSE(summarise_losses(squared_loss(), predictions, truth, false).empty.has_value());
  const auto json = nlohmann::json::parse(s.to_json());
  EXPECT_EQ(json["bound"], nullptr);
  EXPECT_EQ(json["clipped"], false);
  EXPECT_EQ(json["empty"]["max"], 25);
}

TEST(LossSummary, FewLossesThatDecideAreNamed) {
  std::vector<double> even(200, 1.0), truth(200, 0.0);
  EXPECT_EQ(heavy_tail(summarise_losses(squared_loss(), even, truth, false), "squared"), "");
  even[7] = 30;  // a loss of 900 among 199 of 1
  const std::string text = heavy_tail(summarise_losses(squared_loss(), even, truth, false), "squared");
  EXPECT_NE(text.find("82 %"), std::string::npos) << text;
}

}  // namespace
}  // namespace hifi
