#include "audit/audit.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/profile.h"
#include "core/test_folder.h"
#include "hifi/hifi.h"
#include "masking/test_table.h"
#include "model/test_model.h"

namespace hifi {
namespace {

using Names = std::vector<std::string>;

// Columns b, a, id and the truth y = a + 10 b.
Table some_data() {
  return table_of({number_column("b", {1, 0, 2}), number_column("a", {5, 6, 7}),
                   number_column("y", {15, 6, 27}), number_column("id", {1, 1, 2})});
}

std::unique_ptr<TestModel> sum_model(const Names& names) {
  auto model =
      std::make_unique<TestModel>(2, [](std::span<const double> row) { return row[0] + 10 * row[1]; });
  model->info().columns = names;
  return model;
}

ExplainRequest request() { return {.model = "m", .data = "d", .target = "y", .exact = true}; }

Workers& workers() {
  static Workers instance(2);
  return instance;
}

Audit audit_of(const ExplainRequest& r, std::unique_ptr<TestModel> model, Table data = some_data(),
               Shard shard = {}) {
  return Audit(r, {.data = std::move(data), .model = std::move(model)}, shard, workers());
}

std::string refused(const ExplainRequest& r, std::unique_ptr<TestModel> model, Table data = some_data(),
                    ErrorCode code = ErrorCode::input) {
  return error_of([&] { audit_of(r, std::move(model), std::move(data)); }, code);
}

TEST(Audit, MatchesColumnsByNameAndNotesTheSurplus) {
  Audit audit = audit_of(request(), sum_model({"a", "b"}));
  EXPECT_EQ(audit.plan().players, (Names{"a", "b"}));
  ASSERT_EQ(audit.notes().size(), 1U);
  EXPECT_EQ(audit.notes()[0], "columns that the model does not use are ignored: id");
  const RunResult state = audit.run(nullptr, {});
  EXPECT_EQ(state.lattice.means()[3], 0) << "the full coalition predicts the truth";
  EXPECT_EQ(refused(request(), sum_model({"a", "c"})), "t.csv: has no column \"c\", which test expects");
}

TEST(Audit, MatchesColumnsByOrderOrByFeatures) {
  ExplainRequest r = request();
  EXPECT_TRUE(contains(refused(r, sum_model({})),
                       "t.csv: has 3 columns besides the target, test expects 2 and has no column names"));
  r.features = {"a", "b"};
  Audit by_features = audit_of(r, sum_model({}));
  EXPECT_EQ(by_features.run(nullptr, {}).lattice.means()[3], 0);
  r.features = {};
  r.cluster = "id";
  Audit by_order = audit_of(r, sum_model({}));
  EXPECT_EQ(by_order.plan().players, (Names{"b", "a"}));
  EXPECT_TRUE(contains(by_order.notes().at(0), "matched by order, b, a"));
  EXPECT_EQ(by_order.plan().instance_blocks, 2U) << "one block per cluster";
}

TEST(Audit, FeaturesArePlayersTheRestStays) {
  ExplainRequest r = request();
  r.features = {"b"};
  Audit audit = audit_of(r, sum_model({"a", "b"}));
  EXPECT_EQ(audit.plan().players, Names{"b"});
  // Off the coalition b is that of a random row: mean of 100 (b - b')^2 over all pairs.
  EXPECT_NEAR(audit.run(nullptr, {}).lattice.means()[0], 100 * 12.0 / 9, 1e-9);
  r.features = {"b", "x"};
  EXPECT_TRUE(contains(refused(r, sum_model({"a", "b"})), "\"x\" is no column of the model"));
}

TEST(Audit, TruthAndLoss) {
  ExplainRequest r = request();
  r.target = "";
  EXPECT_TRUE(contains(refused(r, sum_model({"a", "b"}), some_data(), ErrorCode::usage),
                       "squared loss needs the truth"));
  r.loss = "prediction";
  EXPECT_EQ(audit_of(r, sum_model({"a", "b"})).plan().measure, "prediction");
  r = request();
  r.loss = "log";
  EXPECT_TRUE(contains(refused(r, sum_model({"a", "b"})), "is no class of the model"));
}

TEST(Audit, ClustersMustBeThere) {
  Table data = some_data();
  data.columns[3].values[1] = kMissing;
  ExplainRequest r = request();
  r.cluster = "id";
  EXPECT_EQ(refused(r, sum_model({"a", "b"}), data),
            "t.csv: column \"id\", data row 2 (line 3): the cluster is missing");
}

TEST(Audit, MoreShardsThanBlocks) {
  EXPECT_EQ(audit_of(request(), sum_model({"a", "b"}), some_data(), {.index = 3, .count = 3}).plan().shards,
            3U);
  EXPECT_TRUE(contains(error_of([] {
                         audit_of(request(), sum_model({"a", "b"}), some_data(), {.index = 1, .count = 4});
                       }),
                       "--shard 1/4: the run has 3 instance blocks"));
}

TEST(Audit, PlanAndForecast) {
  const Audit audit = audit_of(request(), sum_model({"a", "b"}));
  EXPECT_TRUE(audit.plan().exact);
  EXPECT_EQ(audit.plan().draws, 9U);
  EXPECT_EQ(audit.forecast().evaluations, 36U);
  EXPECT_EQ(RunPlan::from_json(audit.plan().to_json(), "run").to_json(), audit.plan().to_json());
  const auto provenance = nlohmann::ordered_json::parse(audit.plan().provenance);
  Names keys;
  for (const auto& [key, value] : provenance.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (Names{"seed", "version", "model", "data", "background", "columns", "loss_range", "engine"}));
  EXPECT_EQ(provenance["data"]["rows"], 3);
  EXPECT_EQ(provenance["data"]["target"], "y");
}

TEST(Audit, HashesFollowTheContents) {
  const auto data_hash = [](Table data) {
    return nlohmann::json::parse(
               audit_of(request(), sum_model({"a", "b"}), std::move(data)).plan().provenance)
        .at("data")
        .at("hash")
        .get<std::string>();
  };
  const std::string hash = data_hash(some_data());
  Table unused = some_data();
  unused.columns[3].values[0] = 99;
  EXPECT_EQ(data_hash(unused), hash) << "a column that is not used";
  for (const std::size_t column : {0U, 1U, 2U}) {
    Table other = some_data();
    other.columns[column].values[2] += 1;
    EXPECT_NE(data_hash(other), hash) << column;
  }
}

TEST(Audit, ResumesFromItsFileAndRefusesAnImpossiblePosition) {
  const TemporaryFolder folder;
  const auto fresh = [&] { return audit_of(request(), sum_model({"a", "b"})); };
  Audit audit = fresh();
  const auto whole = audit.run(nullptr, {}).lattice.means();
  RunFile file = RunFile::create(folder.path("run"), audit.plan().to_json());
  auto failing = sum_model({"a", "b"});
  failing->fail_at_call = 4;  // two calls are the probe
  Audit broken = audit_of(request(), std::move(failing));
  EXPECT_EQ(error_of([&] { broken.run(&file, {}); }, ErrorCode::model), "the model failed");
  Audit again = fresh();
  EXPECT_EQ(again.run(&file, {}).lattice.means(), whole);
  EXPECT_TRUE(is_complete(file, audit.plan()));

  RunFile other = RunFile::create(folder.path("other"), audit.plan().to_json());
  LatticeState state = LatticeState::start(audit.plan());
  state.draws_done = 4;  // a block has three
  LatticeStore(other, audit.plan()).save(state);
  EXPECT_TRUE(
      contains(error_of([&] { fresh().run(&other, {}); }), "position in the run file is out of range"));
}

TEST(ParsePairs, Words) {
  using Kind = PairSelection::Kind;
  const Names players = {"a", "b:c", ""};
  EXPECT_EQ(parse_pairs("all", players).kind, Kind::all);
  EXPECT_EQ(parse_pairs("none", players).kind, Kind::none);
  EXPECT_EQ(parse_pairs("top:12", players).top, 12U);
  EXPECT_EQ(parse_pairs("with:b:c", players).with, 1U);
  for (const char* bad :
       {"", "All", "top", "top:", "top:-1", "top:1.5", "top:x", "top:99999999999999999999", "with"}) {
    EXPECT_TRUE(contains(error_of([&] { parse_pairs(bad, players); }, ErrorCode::usage), "must be all, none"))
        << bad;
  }
  EXPECT_TRUE(
      contains(error_of([&] { parse_pairs("with:z", players); }), "--pairs with:z: there is no such player"));
}

TEST(Decompose, AnAndGameByHand) {
  const std::vector<double> losses = {0.5, 0.5, 0.5, 0};
  const Profile profile = decompose({"a", "b"}, losses);
  EXPECT_EQ(profile.features[0].U.value, 0);
  EXPECT_EQ(profile.features[0].S.value, 0.5);
  EXPECT_EQ(profile.features[0].S.context, std::vector<std::uint32_t>{1});
  EXPECT_EQ(profile.pairs[0].S.value, 0.5);
  EXPECT_EQ(profile.coverage.coalitions, 4U);
  EXPECT_TRUE(contains(to_json(profile), "hifi.profile/1"));
}

TEST(Decompose, BadTables) {
  const auto refused_losses = [](const Names& players, const std::vector<double>& losses) {
    return error_of([&] { decompose(players, losses); });
  };
  EXPECT_NE(refused_losses({}, {1}), "no error");
  EXPECT_NE(refused_losses({"a"}, {1}), "no error");
  EXPECT_NE(refused_losses({"a"}, {1, 2, 3}), "no error");
  EXPECT_NE(refused_losses(Names(25, "p"), {1}), "no error");
  EXPECT_TRUE(contains(refused_losses({"a"}, {1, NAN}), "the loss of coalition 1 is nan"));
  EXPECT_TRUE(contains(refused_losses({"a"}, {-INFINITY, 1}), "the loss of coalition 0 is -inf"));
}

TEST(Profiles, ManyContextsTieWhenTheLossIsLargeAgainstItsRange) {
  // Everything lies within the tolerance of a tie: contexts are empty, and still there is a text.
  const std::vector<double> losses = {1e12, 1e12, 1e12, 1e12 - 1};
  EXPECT_FALSE(to_json(decompose({"a", "b"}, losses)).empty());
}

}  // namespace
}  // namespace hifi
