// The content of an ONNX file: graph, nodes, attributes, initialisers, inputs and outputs.
//
// A reader of the protobuf wire format of our own, for the few messages that matter here. Every length is
// checked against the bytes that are there; what is not known is skipped, as protobuf demands. Tensors refer
// to the content that was parsed, which must outlive the document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hifi::onnx {

// Element types of tensors that somebody here reads; numbers as in the file.
enum class Element : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
};

struct Tensor {
  std::string name;
  Element type = Element::undefined;
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::string_view raw;             // little-endian elements, if the file has them so
  std::vector<double> values;       // elements that are not in `raw`
  std::vector<std::string> texts;
  bool external = false;  // the elements are in another file
};

struct Graph;

struct Attribute {
  std::string name;
  std::int32_t type = 0;  // AttributeProto.AttributeType; 0 in old files
  double number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  std::vector<Tensor> tensors;  // one, or a list
  std::vector<Graph> graphs;    // of If, Loop and Scan
};

struct Node {
  std::string op;
  std::string domain;  // empty: ai.onnx
  std::string name;    // may be empty
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view name) const;  // nullptr if there is none
};

struct Dimension {
  std::int64_t size = -1;  // below 0: known only at run time
  std::string name;        // of a size that is not known
};

struct Value {
  enum class Kind { unknown, tensor, sequence, map };
  std::string name;
  Kind kind = Kind::unknown;
  Element type = Element::undefined;  // tensors
  bool has_shape = false;
  std::vector<Dimension> shape;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initialisers;
  std::vector<Value> inputs;  // without those that initialisers give
  std::vector<Value> outputs;
  std::vector<Value> inner;  // types of other values, as far as the file states them

  const Tensor* find_initialiser(std::string_view name) const;
};

struct Opset {
  std::string domain;  // empty: ai.onnx
  std::int64_t version = 0;
};

struct Document {
  std::int64_t ir_version = 0;
  std::string producer;
  std::string producer_version;
  std::vector<Opset> opsets;
  bool has_functions = false;  // operators that the file itself defines
  Graph graph;
};

// By content, looking at the outermost fields only. True also for a file that is cut short.
bool looks_like_onnx(std::string_view content);

// Throws Error(input) that begins with `path`: broken, cut short, without a graph.
Document parse_document(std::string_view content, const std::string& path);

// Whether a node of the graph (or of one within it) is a tree ensemble of ai.onnx.ml.
bool has_trees(const Graph& graph);

// The elements of a tensor of numbers. Throws Error(input) that begins with `where`: fewer or more elements
// than its shape says, a type that is no number, elements in another file.
std::vector<double> tensor_numbers(const Tensor& tensor, const std::string& where);
// The same of a tensor of texts.
const std::vector<std::string>& tensor_texts(const Tensor& tensor, const std::string& where);
// The product of the shape. Throws if it is negative or beyond 2^40.
std::size_t tensor_size(const Tensor& tensor, const std::string& where);

// A text of the file for a message of one line: short, without control characters.
std::string shown(std::string_view text);
// "TreeEnsembleRegressor" or "ai.onnx.ml.TreeEnsembleRegressor", for messages.
std::string operator_name(const Node& node);

}  // namespace hifi::onnx
