#include "vocabulary/run_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/test_folder.h"
#include "vocabulary/test_plan.h"

namespace hifi {
namespace {

using nlohmann::json;

std::string refused(const std::string& text) {
  return error_of([&] { RunPlan::from_json(text, "run.hifi"); });
}

std::string refused_with(const std::string& pointer, const json& value) {
  json plan = json::parse(test_plan().to_json());
  plan[json::json_pointer(pointer)] = value;
  return refused(plan.dump());
}

TEST(RunPlan, RoundTripsEveryField) {
  RunPlan plan = test_plan();
  plan.version = "1.2.3";
  plan.players = {"a", "b \"quoted\"", "\xc3\xa9"};
  plan.loss = "log";
  plan.measure = "prediction";
  plan.expected = "prediction";
  plan.options = R"({"seed":18446744073709551615})";
  plan.provenance = R"({"seed":1,"model":{"path":"m","hash":"x"}})";
  plan.exact = true;
  reshape(plan, std::uint64_t{1} << 58, 7, 8, 9);
  plan.instances = 5;
  plan.pairs = UINT64_MAX;
  plan.population = Population::instances;
  plan.loss_range = 0.1;
  plan.batch_rows = 10;
  plan.tie_tolerance = 0.1 + 0.2;
  plan.interval = "montecarlo";
  plan.confidence = 1.0 / 3;
  plan.warnings = {{"code", "message"}};
  plan.shard = 3;
  plan.shards = 5;
  const RunPlan back = RunPlan::from_json(plan.to_json(), "run.hifi");
  EXPECT_EQ(back.to_json(), plan.to_json());
  EXPECT_EQ(back.players, plan.players);
  EXPECT_EQ(back.draws, plan.draws);
  EXPECT_EQ(back.options, plan.options);
  EXPECT_EQ(back.provenance, plan.provenance) << "to the byte";
  EXPECT_EQ(back.pairs, plan.pairs);
  EXPECT_EQ(back.background_weights, plan.background_weights);
  EXPECT_EQ(back.population, plan.population);
  EXPECT_EQ(back.loss_range, plan.loss_range);
  EXPECT_EQ(back.tie_tolerance, plan.tie_tolerance);
  EXPECT_EQ(back.confidence, plan.confidence);
  EXPECT_EQ(back.warnings.at(0).message, "message");
  EXPECT_EQ(back.shard, 3U);
  EXPECT_EQ(RunPlan::difference(plan, back), "");
}

TEST(RunPlan, ShardsShareTheBlocks) {
  for (const std::size_t blocks : {1U, 5U, 32U}) {
    for (std::size_t shards = 1; shards <= blocks; ++shards) {
      std::size_t next = 0;
      for (std::size_t shard = 1; shard <= shards; ++shard) {
        RunPlan plan = test_plan();
        plan.instance_blocks = blocks;
        plan.shard = shard;
        plan.shards = shards;
        EXPECT_EQ(plan.begin_block(), next);
        EXPECT_GT(plan.end_block(), plan.begin_block());
        next = plan.end_block();
      }
      EXPECT_EQ(next, blocks);
    }
  }
}

TEST(RunPlan, EveryFieldIsNeeded) {
  const json plan = json::parse(test_plan().to_json());
  for (const auto& [key, value] : plan.items()) {
    json part = plan;
    part.erase(key);
    EXPECT_TRUE(contains(refused(part.dump()), "run.hifi: the plan in the run file is broken")) << key;
  }
}

TEST(RunPlan, HostileValues) {
  const std::vector<json> nonsense = {nullptr, true, "text", json::array(), json::object(), -1, 1e300, 0.5};
  for (const char* field : {"/draws", "/batch", "/blocks/0", "/blocks/1", "/blocks/2", "/shard/0", "/shard/1",
                            "/instances", "/pairs", "/weights/0/1"}) {
    for (const json& value : nonsense) {
      EXPECT_TRUE(contains(refused_with(field, value), "run.hifi: the plan")) << field << value;
    }
  }
  for (const char* field :
       {"/version", "/loss", "/measure", "/interval", "/players", "/options", "/provenance"}) {
    for (const json& value : {json(nullptr), json(true), json(-1), json(0.5)}) {
      EXPECT_TRUE(contains(refused_with(field, value), "run.hifi: the plan")) << field << value;
    }
  }
  for (const json& value : {json("x"), json(0), json(1), json(-0.1), json(nullptr), json(1e300)}) {
    EXPECT_TRUE(contains(refused_with("/confidence", value), "run.hifi: the plan")) << value;
  }
  EXPECT_TRUE(contains(refused_with("/players", json::array()), "out of range"));
  EXPECT_TRUE(contains(refused_with("/players", json::array({1, 2})), "broken"));
  EXPECT_TRUE(contains(refused_with("/players", std::vector<std::string>(31, "p")), "out of range"));
  EXPECT_TRUE(contains(refused_with("/blocks/0", 4097), "out of range"));
  EXPECT_TRUE(contains(refused_with("/blocks/0", 0), "out of range"));
  EXPECT_TRUE(contains(refused_with("/blocks/2", UINT64_MAX), "out of range"));
  EXPECT_TRUE(contains(refused_with("/shard/0", 2), "out of range"));
  EXPECT_TRUE(contains(refused_with("/shard/1", 99), "out of range"));
  EXPECT_TRUE(contains(refused_with("/draws", 0), "out of range"));
  EXPECT_TRUE(contains(refused_with("/draws", 13), "out of range")) << "the weights do not add up";
  EXPECT_TRUE(contains(refused_with("/weights/1/0", 5), "out of range"));
  EXPECT_TRUE(contains(refused_with("/weights/0", {3, 3, 3, 3, 0}), "out of range"));
  EXPECT_TRUE(contains(refused_with("/weights/0", {UINT64_MAX, 13, 0, 0}), "out of range"));
  EXPECT_TRUE(contains(refused_with("/population", "people"), "people"));
  EXPECT_TRUE(contains(refused_with("/loss_range", -1), "out of range"));
  EXPECT_TRUE(contains(refused_with("/tie_tolerance", -1), "out of range"));
  EXPECT_TRUE(contains(refused_with("/warnings", json::array({1})), "broken"));
}

TEST(RunPlan, HostileText) {
  for (const std::string text : {"", "{", "[]", "5", "\"x\"", "null", "\xff\xfe", "{\"version\":"}) {
    EXPECT_TRUE(contains(refused(text), "run.hifi: the plan in the run file is broken")) << text;
  }
  json plan = json::parse(test_plan().to_json());
  plan["options"] = "HERE";
  std::string text = plan.dump();
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  text.replace(text.find("\"HERE\""), 6, deep);
  EXPECT_TRUE(contains(refused(text), "nested too deep"));
}

TEST(RunPlan, DifferenceNamesTheFieldAndBothValues) {
  const RunPlan a = test_plan();
  const auto change = [&](const std::function<void(RunPlan&)>& edit) {
    RunPlan b = a;
    edit(b);
    return RunPlan::difference(a, b);
  };
  EXPECT_EQ(change([](RunPlan&) {}), "");
  EXPECT_EQ(change([](RunPlan& p) { p.draws = 13; }), "draws: 12 and 13");
  EXPECT_EQ(change([](RunPlan& p) { p.players[1] = "z"; }), "players/1: \"b\" and \"z\"");
  EXPECT_EQ(change([](RunPlan& p) { p.players.push_back("z"); }), "players/2: nothing and \"z\"");
  EXPECT_EQ(change([](RunPlan& p) { p.provenance = R"({"model":{"hash":"y","path":"m"}})"; }),
            "provenance/model/hash: \"x\" and \"y\"");
  EXPECT_EQ(change([](RunPlan& p) { p.options = R"({"seed":2,"model":"m"})"; }), "options/seed: 1 and 2");
  EXPECT_EQ(change([](RunPlan& p) { p.shard = 2; }), "");
  EXPECT_EQ(change([](RunPlan& p) { p.options = R"({"seed":1,"model":"elsewhere","max_memory":5})"; }), "");
  EXPECT_EQ(change([](RunPlan& p) { p.provenance = R"({"model":{"hash":"x","path":"elsewhere"}})"; }), "");
}

TEST(RunPlan, APathInAnotherEncodingIsNoBug) {
  RunPlan plan = test_plan();
  plan.interval = "caf\xe9";
  EXPECT_EQ(RunPlan::from_json(plan.to_json(), "run.hifi").interval, "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace hifi
