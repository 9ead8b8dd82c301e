#include "experiments/experiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/e1_results.h"

namespace hifi {
namespace {

ExperimentResult small_result() {
  ResultTable table{.key = "t", .title = "A table", .columns = {"model", "paper", "ours"}};
  table.add({"a, b", 411.88, ResultCell::over({1, 2, 6})});
  table.add({"c", ResultCell(), .25});
  return {
      .key = "e0", .title = "An experiment", .setup = {"nothing"}, .tables = {table}, .notes = {"so it is"}};
}

TEST(Experiment, CellsAreMeansAndDeviations) {
  const ResultCell cell = ResultCell::over({1, 2, 6});
  EXPECT_DOUBLE_EQ(*cell.value, 3);
  EXPECT_DOUBLE_EQ(*cell.spread, std::sqrt(7.0));  // (4 + 1 + 9) / 2
  EXPECT_FALSE(ResultCell::over({4}).spread);
  EXPECT_FALSE(ResultCell::over({}).value);
}

TEST(Experiment, IsWrittenThreeTimesFromTheSameCells) {
  const ExperimentResult result = small_result();
  EXPECT_EQ(table_csv(result.tables[0]),
            "model,paper,ours,ours.sd\n\"a, b\",411.88,3,2.6457513110645907\nc,,0.25,\n");
  const auto document = nlohmann::json::parse(experiment_json(result, {.seed = 7, .seeds = 3}));
  EXPECT_EQ(document["schema"], "hifi.reproduce/1");
  EXPECT_EQ(document["seed"], 7);
  const auto& rows = document["tables"][0]["rows"];
  EXPECT_EQ(rows[0]["ours"]["mean"], 3);
  EXPECT_TRUE(rows[1]["paper"].is_null());
  EXPECT_EQ(rows[1]["ours"], .25);
  const std::string text = experiment_text(result);
  EXPECT_NE(text.find("3 ± 2.6"), std::string::npos);
  EXPECT_NE(text.find("412"), std::string::npos);
  EXPECT_NE(text.find("  1. so it is"), std::string::npos);
}

TEST(Experiment, TablesForTheFilesAreNotPrinted) {
  ExperimentResult result = small_result();
  result.tables[0].printed = false;
  EXPECT_EQ(experiment_text(result).find("A table"), std::string::npos);
  EXPECT_NE(experiment_json(result, {}).find("A table"), std::string::npos);
}

// Closed forms: S of an active pair of XOR3 is 1/2, its SII 1/4 and its STII 1/6 at maximum order 2, at every
// row.
TEST(Experiment, RatiosOfParity) {
  const CausalModel model = xor3_model();
  const Channels channels = channels_of(model, model.population_losses);
  const PairIndices phi = true_indices(model);
  const std::vector<double> weights(16, 1.0 / 16);
  const auto kept = average(phi, weights, Averaging::absolute);
  EXPECT_NEAR(conflation_ratio(model, channels, kept[0]), 3, 1e-12);  // STII
  EXPECT_NEAR(conflation_ratio(model, channels, kept[2]), 2, 1e-12);  // SII
  // Signs cancel to nothing.
  const auto cancelled = average(phi, weights, Averaging::signed_mean);
  for (const double x : cancelled[2]) EXPECT_NEAR(x, 0, 1e-12);
}

}  // namespace
}  // namespace hifi
