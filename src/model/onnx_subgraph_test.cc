#include "model/onnx_subgraph.h"

#include <gtest/gtest.h>

#include "hifi/error.h"
#include "model/test_onnx.h"

namespace hifi::onnx {
namespace {

// A classifier as converters write it: a label from a list of texts, and a map of probabilities.
std::string classifier(const std::string& more_outputs = "") {
  return model_file(node_field("MatMul", "", {"x", "w"}, {"s"}) + node_field("Softmax", "", {"s"}, {"p"}) +
                    node_field("ArgMax", "", {"p"}, {"best"}) +
                    node_field("ArrayFeatureExtractor", "ai.onnx.ml", {"names", "best"}, {"label"}) +
                    node_field("ZipMap", "ai.onnx.ml", {"p"}, {"map"},
                               texts_attribute("classlabels_strings", {"no", "yes"})) +
                    initialiser_field("w", 1, {1, 2}, raw_bytes({1.0F, 2.0F})) +
                    bytes_field(5, number_field(1, 2) + number_field(2, 8) + bytes_field(6, "no") +
                                       bytes_field(6, "yes") + bytes_field(8, "names")) +
                    value_field(11, "x", 1, {-1, 1}) + value_field(11, "w", 1, {1, 2}) +
                    value_field(12, "label", 8, {-1}) +
                    bytes_field(12, bytes_field(1, "map") + bytes_field(2, bytes_field(4, ""))) +
                    more_outputs + value_field(13, "s", 1, {1, 2}));
}

std::string error_of(const Graph& graph, const std::string& wanted) {
  try {
    choose_output(graph, wanted, "m.onnx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    return std::string(error.what()) + "; " + error.hint();
  }
  return "";
}

TEST(OnnxSubgraph, ProbabilitiesAreChosen) {
  const std::string content = classifier();
  const Document document = parse_document(content, "m.onnx");
  const ChosenOutput chosen = choose_output(document.graph, "", "m.onnx");
  EXPECT_EQ(chosen.tensor, "p");
  EXPECT_TRUE(chosen.probabilities);
  EXPECT_EQ(chosen.labels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(choose_output(document.graph, "1", "m.onnx").tensor, "p");
  EXPECT_EQ(error_of(document.graph, "0"),
            "m.onnx: output \"label\" holds no numbers; choose another with --output: label, map");
  EXPECT_EQ(error_of(document.graph, "score"),
            "m.onnx: has no output score; choose one with --output: label, map");
}

TEST(OnnxSubgraph, LabelsOfPlainProbabilities) {
  const std::string content = classifier(value_field(12, "p", 1, {-1, 2}));
  const Document document = parse_document(content, "m.onnx");
  const ChosenOutput chosen = choose_output(document.graph, "p", "m.onnx");
  EXPECT_EQ(chosen.tensor, "p");
  EXPECT_FALSE(chosen.probabilities);  // nothing says so but a name of one letter
}

TEST(OnnxSubgraph, TellsWhatMakesTheOutput) {
  const auto chosen = [](const std::string& nodes) {
    const Document document =
        parse_document(model_file(nodes + initialiser_field("w", 1, {1, 2}, raw_bytes({1.0F, 2.0F})) +
                                  value_field(11, "x", 1, {-1, 1}) + value_field(12, "y", 1, {-1, 2})),
                       "m.onnx");
    return choose_output(document.graph, "", "m.onnx");
  };
  const std::string linear = node_field("MatMul", "", {"x", "w"}, {"s"});
  const ChosenOutput softmax = chosen(linear + node_field("Softmax", "", {"s"}, {"p"}) +
                                      node_field("Reshape", "", {"p", "shape"}, {"y"}));
  EXPECT_EQ(softmax.made_by, "Softmax");
  EXPECT_FALSE(softmax.linear);
  EXPECT_TRUE(chosen(node_field("MatMul", "", {"x", "w"}, {"y"})).linear);
  EXPECT_TRUE(chosen(linear + node_field("Add", "", {"s", "b"}, {"y"})).linear);
  EXPECT_TRUE(chosen(node_field("Abs", "", {"x"}, {"s"}) + node_field("Add", "", {"s", "w"}, {"y"})).linear);
  // A mean of probabilities is no linear layer.
  EXPECT_FALSE(chosen(node_field("Sigmoid", "", {"x"}, {"a"}) + node_field("Abs", "", {"x"}, {"b"}) +
                      node_field("Add", "", {"a", "b"}, {"y"}))
                   .linear);
}

TEST(OnnxSubgraph, NothingIsLeftThatIsNotNeeded) {
  const std::string content = classifier();
  const Document document = parse_document(content, "m.onnx");
  const std::string cut = cut_to(content, document, "p", "m.onnx");
  const Document left = parse_document(cut, "cut.onnx");
  ASSERT_EQ(left.graph.nodes.size(), 2U);
  EXPECT_EQ(left.graph.nodes[0].op, "MatMul");
  EXPECT_EQ(left.graph.nodes[1].op, "Softmax");
  ASSERT_EQ(left.graph.initialisers.size(), 1U);
  EXPECT_EQ(tensor_numbers(left.graph.initialisers[0], "w"), (std::vector<double>{1, 2}));
  ASSERT_EQ(left.graph.inputs.size(), 1U);
  EXPECT_EQ(left.graph.inputs[0].name, "x");
  ASSERT_EQ(left.graph.outputs.size(), 1U);
  EXPECT_EQ(left.graph.outputs[0].name, "p");
  EXPECT_EQ(left.graph.outputs[0].type, Element::float32);
  EXPECT_TRUE(left.graph.inner.empty());
  EXPECT_EQ(left.ir_version, document.ir_version);
  EXPECT_EQ(left.opsets.size(), document.opsets.size());
}

TEST(OnnxSubgraph, SeveralOutputsMustBeChosenFrom) {
  const std::string content = model_file(
      node_field("Relu", "", {"x"}, {"a"}) + node_field("Exp", "", {"x"}, {"b"}) +
      value_field(11, "x", 1, {-1, 1}) + value_field(12, "a", 1, {-1, 1}) + value_field(12, "b", 1, {-1, 1}));
  const Document document = parse_document(content, "m.onnx");
  EXPECT_EQ(error_of(document.graph, ""), "m.onnx: has 2 outputs; choose one with --output: a, b");
  EXPECT_EQ(choose_output(document.graph, "1", "m.onnx").tensor, "b");
  EXPECT_EQ(parse_document(cut_to(content, document, "b", "m"), "m").graph.nodes.size(), 1U);
}

// A graph within a node reads values of the graph around it.
TEST(OnnxSubgraph, InnerGraphsKeepWhatTheyRead) {
  const std::string inner = node_field("Add", "", {"h", "h"}, {"r"}) + value_field(12, "r", 1, {-1, 1});
  const std::string branch =
      bytes_field(5, bytes_field(1, "then_branch") + bytes_field(6, inner) + number_field(20, 5));
  const std::string content =
      model_file(node_field("Relu", "", {"x"}, {"h"}) + node_field("Exp", "", {"x"}, {"unused"}) +
                 node_field("If", "", {"c"}, {"y"}, branch) + value_field(11, "x", 1, {-1, 1}) +
                 value_field(11, "c", 9, {}) + value_field(12, "y", 1, {-1, 1}));
  const Document document = parse_document(content, "m.onnx");
  const Document left = parse_document(cut_to(content, document, "y", "m"), "m");
  ASSERT_EQ(left.graph.nodes.size(), 2U);
  EXPECT_EQ(left.graph.nodes[0].op, "Relu");
  EXPECT_EQ(left.graph.inputs.size(), 2U);
}

}  // namespace
}  // namespace hifi::onnx
