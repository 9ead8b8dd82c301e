#include "model/onnx_subgraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "hifi/error.h"
#include "model/protobuf_reader.h"

namespace hifi::onnx {

namespace {

using Wire = ProtobufReader::Wire;
using Names = std::set<std::string, std::less<>>;

const Node* producer(const Graph& graph, std::string_view tensor) {
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.outputs, tensor) != node.outputs.end()) return &node;
  }
  return nullptr;
}

bool is_ml(const Node* node, std::string_view op) {
  return node != nullptr && node->op == op && node->domain == "ai.onnx.ml";
}

bool speaks_of_probabilities(const Graph& graph, const Value& output) {
  std::string lower = output.name;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const Node* node = producer(graph, output.name);
  return is_ml(node, "ZipMap") || lower.find("prob") != std::string::npos ||
         (is_ml(node, "LinearClassifier") && node->outputs.size() > 1 && node->outputs[1] == output.name);
}

// The node that makes the values of a tensor: what only moves them is left out.
const Node* maker(const Graph& graph, std::string_view tensor) {
  constexpr std::size_t kMostMoves = 16;
  const Node* node = producer(graph, tensor);
  for (std::size_t k = 0; k < kMostMoves && node != nullptr; ++k) {
    static const Names kMoves = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Cast", "Dropout"};
    if (!kMoves.contains(node->op) || node->inputs.empty()) break;
    node = producer(graph, node->inputs[0]);
  }
  return node;
}

bool is_linear(const Graph& graph, const Node* node) {
  if (node == nullptr || !node->domain.empty()) return false;
  if (node->op == "Gemm" || node->op == "MatMul" || node->op == "Conv") return true;
  // A bias: one side is a constant, or the other a linear layer.
  return node->op == "Add" && std::ranges::any_of(node->inputs, [&](const std::string& input) {
           const Node* before = producer(graph, input);
           return graph.find_initialiser(input) != nullptr ||
                  (before != nullptr && (before->op == "MatMul" || before->op == "Conv"));
         });
}

bool is_real(const Value& output) {
  return output.kind == Value::Kind::tensor &&
         (output.type == Element::float32 || output.type == Element::float64 ||
          output.type == Element::float16);
}

template <class Is>
const Value* only(const Graph& graph, Is is) {
  const Value* found = nullptr;
  for (const Value& output : graph.outputs) {
    if (!is(output)) continue;
    if (found != nullptr) return nullptr;
    found = &output;
  }
  return found;
}

const Value* find_output(const Graph& graph, const std::string& wanted) {
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    if (graph.outputs[k].name == wanted) return &graph.outputs[k];
  }
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    if (std::to_string(k) == wanted) return &graph.outputs[k];
  }
  return nullptr;
}

std::vector<std::string> texts_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
  return texts;
}

// The labels that a node lists in one of two attributes.
std::vector<std::string> listed_labels(const Node& node, const char* integers) {
  if (const Attribute* texts = node.find("classlabels_strings"); texts != nullptr && !texts->texts.empty())
    return texts->texts;
  const Attribute* numbers = node.find(integers);
  return numbers == nullptr ? std::vector<std::string>{} : texts_of(numbers->integers);
}

// The labels of a classifier whose probabilities do not name them: those of its linear part, or the list out
// of which it picks the label of the largest score.
std::vector<std::string> picked_labels(const Graph& graph, const std::string& path) {
  for (const Node& node : graph.nodes) {
    if (is_ml(&node, "LinearClassifier")) return listed_labels(node, "classlabels_ints");
    if (!is_ml(&node, "ArrayFeatureExtractor") || node.inputs.size() != 2) continue;
    const Tensor* list = graph.find_initialiser(node.inputs[0]);
    const Node* index = producer(graph, node.inputs[1]);
    if (list == nullptr || index == nullptr || index->op != "ArgMax") continue;
    if (list->type == Element::text) return tensor_texts(*list, path);
    std::vector<std::int64_t> numbers;
    for (const double number : tensor_numbers(*list, path))
      numbers.push_back(static_cast<std::int64_t>(number));
    return texts_of(numbers);
  }
  return {};
}

// Every name that a graph within a node reads; some are its own, which does no harm.
void add_names(const Graph& graph, Names& names) {
  for (const Node& node : graph.nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& inner : attribute.graphs) add_names(inner, names);
    }
  }
  for (const Value& output : graph.outputs) names.insert(output.name);
}

// Nodes come after those that they read, so one pass from the end finds all that is needed.
Names needed_names(const Graph& graph, const std::string& tensor, std::vector<bool>& keeps) {
  Names names{tensor};
  keeps.assign(graph.nodes.size(), false);
  for (std::size_t k = graph.nodes.size(); k-- > 0;) {
    const Node& node = graph.nodes[k];
    if (std::ranges::none_of(node.outputs, [&](const std::string& name) { return names.contains(name); }))
      continue;
    keeps[k] = true;
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& inner : attribute.graphs) add_names(inner, names);
    }
  }
  return names;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_varint(out, std::uint64_t{field} << 3);
  put_varint(out, value);
}

void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_varint(out, std::uint64_t{field} << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

std::string output_value(const Graph& graph, const std::string& tensor) {
  Element type = Element::float32;
  for (const Value& output : graph.outputs) {
    if (output.name == tensor && output.kind == Value::Kind::tensor) type = output.type;
  }
  std::string element, kind, value;
  put_number(element, 1, static_cast<std::uint64_t>(type));
  put_bytes(kind, 1, element);
  put_bytes(value, 1, tensor);
  put_bytes(value, 2, kind);
  return value;
}

std::string value_name(std::string_view value) {
  ProtobufReader reader(value);
  while (reader.next()) {
    if (reader.field() == 1) return std::string(reader.bytes());
  }
  return "";
}

// Shapes of inner values are left out: they are those of the batch that the model was exported with.
std::string cut_graph(std::string_view message, const Graph& graph, const std::string& tensor,
                      const std::string& path) {
  std::vector<bool> keeps;
  const Names names = needed_names(graph, tensor, keeps);
  std::string out;
  std::size_t node = 0, initialiser = 0;
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        if (keeps[node++]) put_bytes(out, 1, reader.bytes());
        break;
      case 5: {
        const Tensor& constant = graph.initialisers[initialiser++];
        if (!names.contains(constant.name)) break;
        if (constant.external) {
          throw input_error(
              fmt::format("{}: the tensor \"{}\" is in another file", path, shown(constant.name)),
              "save the model in one file: onnx.save(model, \"model.onnx\", save_as_external_data=False)");
        }
        put_bytes(out, 5, reader.bytes());
        break;
      }
      case 2:
      case 15:  // sparse initialisers
        put_bytes(out, reader.field(), reader.bytes());
        break;
      case 11:
        if (names.contains(value_name(reader.bytes()))) put_bytes(out, 11, reader.bytes());
        break;
      default:
        break;
    }
  }
  put_bytes(out, 12, output_value(graph, tensor));
  return out;
}

}  // namespace

ChosenOutput choose_output(const Graph& graph, const std::string& wanted, const std::string& path) {
  std::string names;
  for (const Value& output : graph.outputs) names += (names.empty() ? "" : ", ") + shown(output.name);
  const Value* value = nullptr;
  if (!wanted.empty()) {
    value = find_output(graph, wanted);
  } else if (graph.outputs.size() == 1) {
    value = &graph.outputs[0];
  } else {
    value = only(graph, [&](const Value& output) { return speaks_of_probabilities(graph, output); });
    if (value == nullptr) value = only(graph, is_real);
  }
  if (value == nullptr) {
    throw input_error(wanted.empty() ? fmt::format("{}: has {} outputs", path, graph.outputs.size())
                                     : fmt::format("{}: has no output {}", path, wanted),
                      fmt::format("choose one with --output: {}", names));
  }
  ChosenOutput chosen{.tensor = value->name, .probabilities = speaks_of_probabilities(graph, *value)};
  const Node* node = producer(graph, value->name);
  if (is_ml(node, "ZipMap") && !node->inputs.empty()) {
    chosen.labels = listed_labels(*node, "classlabels_int64s");
    chosen.tensor = node->inputs[0];
  } else if (value->kind == Value::Kind::sequence || value->kind == Value::Kind::map ||
             value->type == Element::text) {
    throw input_error(fmt::format("{}: output \"{}\" holds no numbers", path, shown(value->name)),
                      fmt::format("choose another with --output: {}", names));
  }
  if (const Node* made_by = maker(graph, chosen.tensor); made_by != nullptr) {
    chosen.made_by = made_by->op;
    chosen.linear = is_linear(graph, made_by);
  }
  if (chosen.labels.empty() && chosen.probabilities) chosen.labels = picked_labels(graph, path);
  return chosen;
}

std::string cut_to(std::string_view content, const Document& document, const std::string& tensor,
                   const std::string& path) {
  std::string out;
  ProtobufReader reader(content);
  while (reader.next()) {
    if (reader.field() == 7) {
      put_bytes(out, 7, cut_graph(reader.bytes(), document.graph, tensor, path));
    } else if (reader.wire() == Wire::bytes) {
      put_bytes(out, reader.field(), reader.bytes());
    } else if (reader.wire() == Wire::varint) {
      put_number(out, reader.field(), reader.varint());
    }
  }
  return out;
}

}  // namespace hifi::onnx
