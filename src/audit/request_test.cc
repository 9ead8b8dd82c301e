#include "audit/request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/test_folder.h"

namespace hifi {
namespace {

using nlohmann::json;

ExplainRequest full_request() {
  return {.model = "m.json",
          .data = "d.csv",
          .target = "y",
          .background = "row:3",
          .features = {"a", "b,c"},
          .groups = "g.json",
          .loss = "log",
          .link = "sigmoid",
          .output = "scores",
          .class_name = "2",
          .classes = {"no", "yes"},
          .cluster = "patient",
          .policy = "exhaustive",
          .exact = true,
          .budget = UINT64_MAX,
          .time = "5m",
          .precision = "2%",
          .per_instance = true,
          .amortise = true,
          .seed = UINT64_MAX - 1,
          .interval = "montecarlo",
          .confidence = 0.1 + 0.2,
          .batch = 7,
          .max_memory = 12345,
          .expected = "prediction",
          .fast_lattice = false,
          .check_predictions = "p.csv",
          .stress = {"mean"},
          .task = "t.json",
          .prompts = 12,
          .heads = {"1.2", "3.4"},
          .ablation = "zero",
          .measure = "kl",
          .freeze_layernorm = true};
}

TEST(Request, RoundTripsEveryField) {
  const ExplainRequest full = full_request();
  const ExplainRequest back = ExplainRequest::from_json(full.to_json(), "run");
  EXPECT_EQ(back.to_json(), full.to_json());
  EXPECT_EQ(back.features, full.features);
  EXPECT_EQ(back.classes, full.classes);
  EXPECT_EQ(back.budget, full.budget);
  EXPECT_EQ(back.seed, full.seed);
  EXPECT_EQ(back.confidence, full.confidence);
  EXPECT_EQ(back.batch, full.batch);
  EXPECT_EQ(back.exact, true);
  EXPECT_EQ(back.cluster, "patient");
  const ExplainRequest plain = ExplainRequest::from_json(ExplainRequest{}.to_json(), "run");
  EXPECT_EQ(plain.budget, std::nullopt);
  EXPECT_EQ(plain.batch, std::nullopt);
  EXPECT_EQ(plain.background, "data");
}

TEST(Request, EveryFieldIsStored) {
  // A field that is added to the request but not to its JSON would be lost on resume.
  const json full = json::parse(full_request().to_json());
  const json plain = json::parse(ExplainRequest{}.to_json());
  EXPECT_EQ(full.size(), 34U);
  for (const auto& [key, value] : full.items()) EXPECT_NE(value, plain.at(key)) << key;
}

TEST(Request, BrokenText) {
  const json full = json::parse(full_request().to_json());
  const auto refused = [](const std::string& text) {
    return error_of([&] { ExplainRequest::from_json(text, "run.hifi"); });
  };
  for (const auto& [key, value] : full.items()) {
    json part = full;
    part.erase(key);
    EXPECT_TRUE(contains(refused(part.dump()), "run.hifi: the request in the run file is broken")) << key;
    for (const json& nonsense : {json(json::object()), json(json::array({json::array()}))}) {
      part[key] = nonsense;
      EXPECT_TRUE(contains(refused(part.dump()), "run.hifi: the request")) << key << nonsense;
    }
  }
  for (const char* key : {"budget", "seed", "batch", "max_memory"}) {
    for (const json& nonsense : {json(-1), json(1e300), json(0.5), json("1"), json(true)}) {
      json part = full;
      part[key] = nonsense;
      EXPECT_TRUE(contains(refused(part.dump()), "is no count")) << key << nonsense;
    }
  }
  for (const char* text : {"", "[]", "5", "{"}) EXPECT_NE(refused(text), "no error") << text;
}

TEST(Request, APathInAnotherEncodingIsNoBug) {
  ExplainRequest request;
  request.data = "caf\xe9.csv";
  EXPECT_EQ(ExplainRequest::from_json(request.to_json(), "run").data, "caf\xef\xbf\xbd.csv");
}

}  // namespace
}  // namespace hifi
