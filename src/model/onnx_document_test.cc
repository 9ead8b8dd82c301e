#include "model/onnx_document.h"

#include <gtest/gtest.h>

#include <limits>

#include "hifi/error.h"
#include "model/test_onnx.h"

namespace hifi::onnx {
namespace {

std::string small_file() {
  return model_file(node_field("Scaler", "ai.onnx.ml", {"x"}, {"s"},
                               floats_attribute("offset", {1.5f, -2}) + ints_attribute("axes", {1, -1}) +
                                   text_attribute("mode", "exact") + texts_attribute("names", {"a", ""})) +
                    node_field("Add", "ai.onnx", {"s", "w"}, {"y"}, int_attribute("k", -7)) +
                    initialiser_field("w", 1, {1, 2}, raw_bytes({0.5f, -4.0f})) +
                    value_field(11, "x", 1, {-1, 2}) + value_field(11, "w", 1, {1, 2}) +
                    value_field(12, "y", 1, {-1, 2}));
}

std::string error_of(const std::string& content) {
  try {
    parse_document(content, "m.onnx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return error.what();
  }
  return "";
}

TEST(OnnxDocument, ReadsTheGraph) {
  const std::string content = small_file();
  ASSERT_TRUE(looks_like_onnx(content));
  const Document document = parse_document(content, "m.onnx");
  EXPECT_EQ(document.ir_version, 8);
  EXPECT_EQ(document.producer, "test");
  ASSERT_EQ(document.opsets.size(), 2U);
  EXPECT_EQ(document.opsets[1].domain, "ai.onnx.ml");
  EXPECT_EQ(document.opsets[1].version, 3);
  const Graph& graph = document.graph;
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(operator_name(graph.nodes[0]), "ai.onnx.ml.Scaler");
  EXPECT_EQ(operator_name(graph.nodes[1]), "Add");
  EXPECT_EQ(graph.nodes[1].inputs, (std::vector<std::string>{"s", "w"}));
  EXPECT_EQ(graph.nodes[0].find("offset")->numbers, (std::vector<double>{1.5, -2}));
  EXPECT_EQ(graph.nodes[0].find("axes")->integers, (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(graph.nodes[0].find("mode")->text, "exact");
  EXPECT_EQ(graph.nodes[0].find("names")->texts, (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(graph.nodes[1].find("k")->integer, -7);
  EXPECT_EQ(graph.nodes[1].find("other"), nullptr);
  // "w" is an initialiser: no input of the caller's.
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].name, "x");
  EXPECT_EQ(graph.inputs[0].type, Element::float32);
  ASSERT_EQ(graph.inputs[0].shape.size(), 2U);
  EXPECT_LT(graph.inputs[0].shape[0].size, 0);
  EXPECT_EQ(graph.inputs[0].shape[1].size, 2);
  EXPECT_EQ(tensor_numbers(*graph.find_initialiser("w"), "m"), (std::vector<double>{0.5, -4}));
}

TEST(OnnxDocument, ReadsEveryKindOfElements) {
  const auto numbers = [](Element type, const std::string& raw, std::int64_t count) {
    return tensor_numbers({.type = type, .shape = {count}, .raw = raw}, "t");
  };
  EXPECT_EQ(numbers(Element::float64, raw_bytes({1e300}), 1), std::vector<double>{1e300});
  EXPECT_EQ(numbers(Element::int64, raw_bytes<std::int64_t>({-5, 6}), 2), (std::vector<double>{-5, 6}));
  EXPECT_EQ(numbers(Element::int32, raw_bytes({-5}), 1), std::vector<double>{-5});
  EXPECT_EQ(numbers(Element::uint8, "\xff", 1), std::vector<double>{255});
  EXPECT_EQ(numbers(Element::int8, "\xff", 1), std::vector<double>{-1});
  EXPECT_EQ(numbers(Element::boolean, "\x01", 1), std::vector<double>{1});
  // 1, -2, the smallest subnormal, infinity.
  EXPECT_EQ(numbers(Element::float16, raw_bytes<std::uint16_t>({0x3c00, 0xc000, 1, 0x7c00}), 4),
            (std::vector<double>{1, -2, 0x1p-24, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(tensor_numbers({.type = Element::float16, .shape = {1}, .values = {0x3c00}}, "t"),
            std::vector<double>{1});
  EXPECT_EQ(tensor_numbers({.type = Element::float32, .values = {3}}, "t"), std::vector<double>{3});
}

TEST(OnnxDocument, RefusesTensorsThatLie) {
  const auto refused = [](const Tensor& tensor) { EXPECT_THROW(tensor_numbers(tensor, "t"), Error); };
  const std::string four(4, '\0');
  refused({.type = Element::float32, .shape = {2}, .raw = four});
  refused({.type = Element::float32, .shape = {-1}, .raw = four});
  refused({.type = Element::float64, .shape = {1}, .raw = four});
  refused({.type = Element::float32, .shape = {1LL << 40, 1LL << 40}, .raw = four});
  refused({.type = Element::text, .shape = {1}, .texts = {"a"}});
  refused({.type = Element::float32, .shape = {1}, .raw = four, .external = true});
  EXPECT_THROW(tensor_texts({.type = Element::text, .shape = {2}, .texts = {"a"}}, "t"), Error);
}

// Whatever the cut, the file is known as ONNX and refused, or is whole.
TEST(OnnxDocument, RefusesCutFiles) {
  const std::string content = small_file();
  const std::size_t graph_end = content.size() - 2 - (2 + 2 + 10 + 2) - 2 - (2 + 2);
  for (std::size_t length = 3; length < content.size(); ++length) {
    const std::string cut = content.substr(0, length);
    EXPECT_TRUE(looks_like_onnx(cut)) << length;
    if (length < graph_end) {
      EXPECT_NE(error_of(cut), "") << length;
    }
  }
  EXPECT_EQ(error_of(content.substr(0, 9)), "m.onnx: the ONNX file is broken");
  EXPECT_EQ(error_of(number_field(1, 8) + bytes_field(2, "x")), "m.onnx: the ONNX file has no graph");
}

TEST(OnnxDocument, KnowsForeignFiles) {
  for (const std::string content :
       {"", "tree\nversion=v4\n", "{\"learner\":{}}", "PK\x03\x04", "a,b\n1,2\n"}) {
    EXPECT_FALSE(looks_like_onnx(content)) << content;
  }
  EXPECT_FALSE(looks_like_onnx(std::string(100, '\0')));
}

TEST(OnnxDocument, BoundsTheDepthOfGraphs) {
  std::string graph;
  for (int level = 0; level < 1000; ++level) {
    graph = node_field("If", "", {"c"}, {"y"},
                       bytes_field(5, bytes_field(1, "then_branch") + bytes_field(6, graph)));
  }
  EXPECT_EQ(error_of(model_file(graph)), "m.onnx: the ONNX file is broken");
}

TEST(OnnxDocument, FindsTreesInGraphsWithinGraphs) {
  const std::string trees = node_field("TreeEnsembleRegressor", "ai.onnx.ml", {"x"}, {"y"});
  const std::string inside = node_field(
      "If", "", {"c"}, {"y"}, bytes_field(5, bytes_field(1, "then_branch") + bytes_field(6, trees)));
  EXPECT_TRUE(has_trees(parse_document(model_file(trees), "m").graph));
  EXPECT_TRUE(has_trees(parse_document(model_file(inside), "m").graph));
  EXPECT_FALSE(has_trees(parse_document(small_file(), "m").graph));
}

}  // namespace
}  // namespace hifi::onnx
