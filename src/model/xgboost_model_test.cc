#include "model/xgboost_model.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hifi/error.h"

namespace hifi {
namespace {

using nlohmann::json;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string read_fixture(const std::string& name) {
  std::ifstream file(HIFI_SOURCE_DIR "/tests/fixtures/xgboost/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Node 0: x0 < 0.5 ? 1 : 2, missing left. Node 1 is the leaf 10. Node 2: x1 in {1, 33} goes right to 4 (30),
// else left to 3 (20), missing right.
json tiny_tree() {
  return {{"tree_param", {{"num_nodes", "5"}, {"size_leaf_vector", "1"}}},
          {"left_children", {1, -1, 3, -1, -1}},
          {"right_children", {2, -1, 4, -1, -1}},
          {"split_indices", {0, 0, 1, 0, 0}},
          {"split_conditions", {0.5, 10, 0, 20, 30}},
          {"default_left", {1, 0, 0, 0, 0}},
          {"split_type", {0, 0, 1, 0, 0}},
          {"categories", {1, 33}},
          {"categories_nodes", {2}},
          {"categories_segments", {0}},
          {"categories_sizes", {2}},
          {"loss_changes", {1, 0, 1, 0, 0}}};
}

json tiny_model() {
  return {
      {"learner",
       {{"feature_names", {"a", "b"}},
        {"gradient_booster", {{"name", "gbtree"}, {"model", {{"trees", {tiny_tree()}}, {"tree_info", {0}}}}}},
        {"learner_model_param",
         {{"base_score", "[5E-1]"}, {"num_class", "0"}, {"num_feature", "2"}, {"num_target", "1"}}},
        {"objective", {{"name", "reg:squarederror"}}}}},
      {"version", {3, 2, 0}}};
}

json& booster(json& model) { return model["learner"]["gradient_booster"]; }
json& tree(json& model) { return booster(model)["model"]["trees"][0]; }
json& parameters(json& model) { return model["learner"]["learner_model_param"]; }

std::vector<double> predict(const Model& model, const std::vector<double>& rows) {
  const std::size_t count = rows.size() / model.info().width;
  std::vector<double> out(count * model.info().outputs);
  model.predict(rows, count, out);
  return out;
}

std::string as_text(const json& model) { return model.dump(); }

// Loads, and expects an Error(input) whose message begins with the path and holds `word`.
void expect_refused(const std::string& content, const std::string& word) {
  try {
    load_xgboost("m.json", content);
    FAIL() << "accepted, but should say: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("m.json: ")) << message;
    EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Xgboost, PredictsATinyModel) {
  const auto model = load_xgboost("m.json", as_text(tiny_model()));
  const std::vector<double> rows = {
      0,        0,         // left
      0.5,      0,         // not below the threshold, category not in the set
      1,        1,         // in the set
      1,        33.9,      // a fraction counts as the integer below
      1,        34,        // beyond the set
      1,        -1,        // no category
      1,        1 << 24,   // no category
      kMissing, 1,         // default left
      1,        kMissing,  // default right
      INFINITY, 0,
  };
  const std::vector<double> expected = {10.5, 20.5, 30.5, 30.5, 20.5, 20.5, 20.5, 10.5, 30.5, 20.5};
  EXPECT_EQ(predict(*model, rows), expected);
}

TEST(Xgboost, ComparesAsFloats) {
  json file = tiny_model();
  tree(file)["split_conditions"][0] = 0.1f;
  const auto model = load_xgboost("m.json", as_text(file));
  // As doubles 0.1 < 0.1f, as floats they are equal.
  EXPECT_EQ(predict(*model, {0.1, 0}), std::vector<double>{20.5});
}

TEST(Xgboost, DescribesTheModel) {
  const std::string content = as_text(tiny_model());
  const auto model = load_xgboost("m.json", content);
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.path, "m.json");
  EXPECT_EQ(info.format, "xgboost-json");
  EXPECT_EQ(info.hash.size(), 32u);
  EXPECT_NE(info.hash, load_xgboost("m.json", content + " ")->info().hash);
  EXPECT_EQ(info.objective, "reg:squarederror");
  EXPECT_EQ(info.task, Task::regression);
  EXPECT_EQ(info.width, 2u);
  EXPECT_EQ(info.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(info.categories.empty());
  EXPECT_EQ(info.outputs, 1u);
  EXPECT_EQ(info.tie_tolerance, 5e-5);
}

TEST(Xgboost, ReadsCategoryNames) {
  for (const std::string name : {"3.2.0/names.json", "3.2.0/names.ubj"}) {
    const auto model = load_xgboost(name, read_fixture(name));
    const ModelInfo& info = model->info();
    EXPECT_EQ(info.format, name.ends_with("ubj") ? "xgboost-ubj" : "xgboost-json");
    EXPECT_EQ(info.columns, (std::vector<std::string>{"size", "colour", "shelf", "farbe"}));
    ASSERT_EQ(info.categories.size(), 4u);
    EXPECT_TRUE(info.categories[0].empty());
    EXPECT_EQ(info.categories[1], (std::vector<std::string>{"red", "green", "a\"b", ""}));
    EXPECT_EQ(info.categories[2], (std::vector<std::string>{"20", "22", "24", "26"}));
    EXPECT_TRUE(info.categories[3].empty());  // names beyond ASCII are damaged in the file
  }
}

TEST(Xgboost, TurnsBaseScoresIntoMargins) {
  json file = tiny_model();
  tree(file)["split_conditions"] = {0.5, 0, 0, 0, 0};
  file["learner"]["objective"]["name"] = "binary:logistic";
  for (const char* score : {"2.5E-1", "[2.5E-1]", "0.25"}) {
    parameters(file)["base_score"] = score;
    EXPECT_FLOAT_EQ(static_cast<float>(predict(*load_xgboost("m.json", as_text(file)), {0, 0})[0]), 0.25f);
  }
  parameters(file)["base_score"] = "[1E0]";
  EXPECT_NEAR(predict(*load_xgboost("m.json", as_text(file)), {0, 0})[0], 1 - 1e-6, 1e-7);
  file["version"] = {3, 0, 5};
  expect_refused(as_text(file), "base_score");
}

TEST(Xgboost, ReadsNanThresholdsAndSpecialNumbersInText) {
  json file = tiny_model();
  file["learner"]["feature_names"] = {"NaN \"Infinity\"", "b"};
  std::string text = as_text(file);
  const std::string from = "\"split_conditions\":[0.5,10,0,";
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, from.size(), "\"split_conditions\":[Infinity,10,NaN,");
  const auto model = load_xgboost("m.json", text);
  EXPECT_EQ(model->info().columns[0], "NaN \"Infinity\"");
  EXPECT_EQ(predict(*model, {1e30, 0, INFINITY, 1}), (std::vector<double>{10.5, 30.5}));
}

TEST(Xgboost, RecognisesItsFiles) {
  EXPECT_TRUE(looks_like_xgboost(as_text(tiny_model())));
  EXPECT_TRUE(looks_like_xgboost("\n " + tiny_model().dump(2)));
  EXPECT_TRUE(looks_like_xgboost(read_fixture("1.7.6/binary.ubj")));
  EXPECT_TRUE(looks_like_xgboost("binf...."));
  EXPECT_FALSE(looks_like_xgboost(""));
  EXPECT_FALSE(looks_like_xgboost("{\"a\": 1}"));
  EXPECT_FALSE(looks_like_xgboost("tree\nversion=v4\n"));
  EXPECT_FALSE(looks_like_xgboost("a,b\nlearner,1\n"));
  EXPECT_FALSE(looks_like_xgboost(std::string("\x08\x07\x12", 3)));
}

TEST(Xgboost, RefusesOtherFormatsByName) {
  expect_refused("binf\x01\x02", "old binary format");
  expect_refused("booster[0]:\n0:[f0<1]", "dump");
  expect_refused("", "JSON");
  expect_refused("{}", "learner");
  json file = tiny_model();
  booster(file)["name"] = "gblinear";
  expect_refused(as_text(file), "gblinear");
  file = tiny_model();
  file["learner"]["objective"]["name"] = "reg:novel";
  expect_refused(as_text(file), "reg:novel");
  file["learner"]["objective"]["name"] = "survival:\n" + std::string(1000, 'x');
  expect_refused(as_text(file), "survival:?xxx");
  file = tiny_model();
  parameters(file)["num_target"] = "2";
  expect_refused(as_text(file), "2 targets");
  file = tiny_model();
  parameters(file)["num_class"] = "3";
  expect_refused(as_text(file), "3 outputs");
}

TEST(Xgboost, RefusesBrokenTrees) {
  const auto with = [](const char* name, const json& value) {
    json file = tiny_model();
    tree(file)[name] = value;
    return as_text(file);
  };
  expect_refused(with("left_children", {0, -1, 3, -1, -1}), "tree 0 node 0: child 0 has two parents");
  expect_refused(with("left_children", {1, -1, 1, -1, -1}), "tree 0 node 2: child 1 has two parents");
  expect_refused(with("right_children", {5, -1, 4, -1, -1}), "tree 0 node 0: child 5 is no node");
  expect_refused(with("right_children", {2, -1, -1, -1, -1}), "tree 0 node 2: child -1 is no node");
  expect_refused(with("left_children", {1.5, -1, 3, -1, -1}), "tree 0 node 0: child 1.5 is no node");
  expect_refused(with("left_children", {1, -1, 3, -1}), "differ in length");
  expect_refused(with("left_children", "text"), "left_children");
  expect_refused(with("left_children", json::array()), "0 nodes");
  expect_refused(with("split_indices", {2, 0, 1, 0, 0}), "tree 0 node 0: feature 2");
  expect_refused(with("split_indices", {-1, 0, 1, 0, 0}), "tree 0 node 0: feature -1");
  expect_refused(with("split_conditions", {nullptr, 10, 0, 20, 30}), "tree 0 node 0: the threshold");
  expect_refused(with("split_conditions", {0.5, 10, 0, 20, 1e300}), "tree 0 node 4: the leaf");
  expect_refused(with("default_left", {2, 0, 0, 0, 0}), "default_left");
  expect_refused(with("split_type", {1, 0, 1, 0, 0}), "tree 0 node 0: a categorical split");
  expect_refused(with("categories_nodes", {5}), "category set 0");
  expect_refused(with("categories_segments", {1}), "category set 0");
  expect_refused(with("categories_segments", {-1}), "category set 0");
  expect_refused(with("categories_sizes", {3}), "category set 0");
  expect_refused(with("categories_sizes", {1, 1}), "differ in length");
  expect_refused(with("categories", {1, 1 << 24}), "is no category");
  expect_refused(with("categories", {1, -1}), "is no category");
  expect_refused(with("tree_param", {{"size_leaf_vector", "3"}}), "vectors as leaves");
}

TEST(Xgboost, RefusesBrokenModels) {
  json file = tiny_model();
  booster(file)["model"]["tree_info"] = {1};
  expect_refused(as_text(file), "tree 0: belongs to output 1");
  booster(file)["model"]["tree_info"] = {0, 0};
  expect_refused(as_text(file), "tree_info");
  booster(file)["model"]["trees"] = json::array();
  expect_refused(as_text(file), "no trees");
  for (const char* text : {"", "x", "-1", "1e9", "99999999999999999999", "0"}) {
    file = tiny_model();
    parameters(file)["num_feature"] = text;
    expect_refused(as_text(file), "feature");
  }
  for (const char* text : {"", "x", "[", "[]", "[1,]", "[1,2]", "nan", "1 2"}) {
    file = tiny_model();
    parameters(file)["base_score"] = text;
    expect_refused(as_text(file), "base");
  }
  file = tiny_model();
  file["learner"]["feature_names"] = {"a"};
  expect_refused(as_text(file), "1 feature names");
}

// Values that a reader without limits would die of.
TEST(Xgboost, RefusesBombs) {
  const std::string key = std::string("{L\0\0\0\0\0\0\0\7learner", 17);
  const std::string huge = std::string("#L\x10\0\0\0\0\0\0\0", 10);
  expect_refused(key + "[$Z" + huge, "UBJSON");
  expect_refused(key + "[$T" + huge, "UBJSON");
  expect_refused(key + "[$d" + huge, "UBJSON");
  expect_refused(key + "[" + huge, "UBJSON");
  expect_refused(key + "{" + huge, "UBJSON");
  expect_refused(key + "SL\x10\0\0\0\0\0\0\0", "UBJSON");
  expect_refused(key + std::string(1000000, '['), "UBJSON");
  expect_refused("{\"learner\":" + std::string(1000000, '['), "JSON");
  expect_refused("{\"parents\":{\"parents\":[1,{\"parents\":[]}]}}", "JSON");
  expect_refused("{\"parents\":{\"parents\":[1],\"a\":{\"parents\":2}}}", "learner");
  // Each of many nodes asks for the largest set there is.
  json file = tiny_model();
  tree(file)["categories"] = {(1 << 24) - 1};
  tree(file)["categories_sizes"] = {1};
  json trees = json::array();
  for (int i = 0; i < 200; ++i) trees.push_back(tree(file));
  booster(file)["model"]["trees"] = trees;
  booster(file)["model"]["tree_info"] = std::vector<int>(200, 0);
  expect_refused(as_text(file), "too much memory");
}

// A chain as deep as it is long must neither recurse nor take quadratic time to load.
TEST(Xgboost, ReadsDeepTrees) {
  constexpr int kDepth = 20000;
  std::vector<int> left, right;
  std::vector<double> conditions;
  for (int i = 0; i < kDepth; ++i) {
    left.insert(left.end(), {2 * i + 1, -1});
    right.insert(right.end(), {2 * i + 2, -1});
    conditions.insert(conditions.end(), {static_cast<double>(i), static_cast<double>(i)});
  }
  left.push_back(-1);
  right.push_back(-1);
  conditions.push_back(7);
  json file = tiny_model();
  json chain = {{"tree_param", {{"size_leaf_vector", "0"}}},
                {"left_children", left},
                {"right_children", right},
                {"split_indices", std::vector<int>(left.size(), 0)},
                {"split_conditions", conditions},
                {"default_left", std::vector<int>(left.size(), 0)}};
  booster(file)["model"]["trees"] = {chain};
  const auto model = load_xgboost("m.json", as_text(file));
  EXPECT_EQ(predict(*model, {-1, 0, 3.5, 0, kMissing, 0}), (std::vector<double>{0.5, 4.5, 7.5}));
}

TEST(Xgboost, PredictsTheSameInAnyBatchAndThread) {
  const std::string content = read_fixture("3.2.0/classes.json");
  const auto model = load_xgboost("m.json", content);
  const std::size_t width = model->info().width;
  const std::size_t classes = model->info().outputs;
  constexpr std::size_t kRows = 300;
  std::vector<double> rows(kRows * width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = i % 11 == 0 ? kMissing : std::sin(static_cast<double>(i));
  }
  const std::vector<double> whole = predict(*model, rows);
  std::vector<double> parts(whole.size());
  const auto work = [&](std::size_t first) {
    for (std::size_t r = first; r < kRows; r += 2) {
      model->predict(std::span(rows).subspan(r * width, width), 1,
                     std::span(parts).subspan(r * classes, classes));
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(parts, whole);
  std::vector<double> wrong(3);
  EXPECT_THROW(model->predict(rows, kRows, wrong), Error);
}

// Whatever happens to a file, it is refused or predicts; the sanitizer builds watch.
class XgboostDamage : public testing::TestWithParam<const char*> {
 protected:
  void expect_no_crash(const std::string& content) {
    try {
      const auto model = load_xgboost("m", content);
      // A damaged width can be large; the rows of one block are enough.
      if (model->info().width > 100000) return;
      predict(*model, std::vector<double>(3 * model->info().width, 1.0));
      predict(*model, std::vector<double>(3 * model->info().width, kMissing));
      ++loaded_;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input);
      EXPECT_TRUE(std::string(error.what()).starts_with("m: ")) << error.what();
      ++refused_;
    }
  }

  int loaded_ = 0;
  int refused_ = 0;
};

TEST_P(XgboostDamage, Truncated) {
  const std::string content = read_fixture(GetParam());
  for (std::size_t size = 0; size < content.size(); ++size) expect_no_crash(content.substr(0, size));
  // Only the line end behind the last brace may be missed.
  EXPECT_LE(loaded_, 1);
}

TEST_P(XgboostDamage, Flipped) {
  const std::string content = read_fixture(GetParam());
  std::uint64_t state = 88172645463325252u;
  const auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  for (int i = 0; i < 6000; ++i) {
    std::string damaged = content;
    for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      char& byte = damaged[random() % damaged.size()];
      // Digits and signs become others half of the time: such a file still parses and lies.
      byte = i % 2 == 0 ? static_cast<char>(random()) : "0123456789-,]["[random() % 14];
    }
    expect_no_crash(damaged);
  }
  EXPECT_GT(loaded_, 0);
  EXPECT_GT(refused_, 0);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, XgboostDamage,
                         testing::Values("2.1.4/categories.json", "3.2.0/categories.ubj", "3.2.0/names.json",
                                         "1.7.6/dart.ubj", "3.0.5/classes.json"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace hifi
