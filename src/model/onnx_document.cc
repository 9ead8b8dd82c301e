#include "model/onnx_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hifi/error.h"
#include "model/protobuf_reader.h"

namespace hifi::onnx {

namespace {

using Wire = ProtobufReader::Wire;

constexpr unsigned kMaxDepth = 16;  // graphs within graphs

struct Broken {};  // caught by parse_document, which knows the path

std::string text_of(const ProtobufReader& reader) { return std::string(reader.bytes()); }

std::int64_t integer_of(const ProtobufReader& reader) { return static_cast<std::int64_t>(reader.varint()); }

// Calls visit(reader) for every field. Field numbers below are those of onnx.proto.
template <class Visit>
void for_each_field(std::string_view message, Visit visit) {
  ProtobufReader reader(message);
  while (reader.next()) visit(reader);
  if (reader.broken()) throw Broken{};
}

Tensor read_tensor(std::string_view message) {
  Tensor tensor;
  for_each_field(message, [&](ProtobufReader& r) {
    std::vector<std::int64_t> integers;
    switch (r.field()) {
      case 1:
        r.append_varints(tensor.shape);
        break;
      case 2:
        tensor.type = static_cast<Element>(static_cast<std::int32_t>(r.varint()));
        break;
      case 4:
        r.append_floats(tensor.values);
        break;
      case 5:   // int32_data
      case 7:   // int64_data
      case 11:  // uint64_data
        r.append_varints(integers);
        for (const std::int64_t i : integers) tensor.values.push_back(static_cast<double>(i));
        break;
      case 6:
        tensor.texts.push_back(text_of(r));
        break;
      case 8:
        tensor.name = text_of(r);
        break;
      case 9:
        tensor.raw = r.bytes();
        break;
      case 10:
        r.append_doubles(tensor.values);
        break;
      case 13:  // external_data
        tensor.external = true;
        break;
      case 14:  // data_location
        tensor.external = r.varint() == 1;
        break;
      default:
        break;
    }
  });
  return tensor;
}

Graph read_graph(std::string_view message, unsigned depth);

Attribute read_attribute(std::string_view message, unsigned depth) {
  Attribute attribute;
  for_each_field(message, [&](ProtobufReader& r) {
    switch (r.field()) {
      case 1:
        attribute.name = text_of(r);
        break;
      case 2:
        attribute.number = static_cast<double>(r.float32());
        break;
      case 3:
        attribute.integer = integer_of(r);
        break;
      case 4:
        attribute.text = text_of(r);
        break;
      case 5:   // a tensor
      case 10:  // a list of them
        attribute.tensors.push_back(read_tensor(r.bytes()));
        break;
      case 6:
      case 11:
        if (depth == kMaxDepth) throw Broken{};
        attribute.graphs.push_back(read_graph(r.bytes(), depth + 1));
        break;
      case 7:
        r.append_floats(attribute.numbers);
        break;
      case 8:
        r.append_varints(attribute.integers);
        break;
      case 9:
        attribute.texts.push_back(text_of(r));
        break;
      case 20:
        attribute.type = static_cast<std::int32_t>(r.varint());
        break;
      default:
        break;
    }
  });
  return attribute;
}

Node read_node(std::string_view message, unsigned depth) {
  Node node;
  for_each_field(message, [&](ProtobufReader& r) {
    switch (r.field()) {
      case 1:
        node.inputs.push_back(text_of(r));
        break;
      case 2:
        node.outputs.push_back(text_of(r));
        break;
      case 3:
        node.name = text_of(r);
        break;
      case 4:
        node.op = text_of(r);
        break;
      case 5:
        node.attributes.push_back(read_attribute(r.bytes(), depth));
        break;
      case 7:
        node.domain = text_of(r);
        break;
      default:
        break;
    }
  });
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

Dimension read_dimension(std::string_view message) {
  Dimension dimension;
  for_each_field(message, [&](ProtobufReader& r) {
    if (r.field() == 1) dimension.size = integer_of(r);
    if (r.field() == 2) dimension.name = text_of(r);
  });
  return dimension;
}

void read_tensor_type(std::string_view message, Value& value) {
  for_each_field(message, [&](ProtobufReader& r) {
    if (r.field() == 1) value.type = static_cast<Element>(static_cast<std::int32_t>(r.varint()));
    if (r.field() != 2) return;
    value.has_shape = true;
    for_each_field(r.bytes(), [&](ProtobufReader& shape) {
      if (shape.field() == 1) value.shape.push_back(read_dimension(shape.bytes()));
    });
  });
}

Value read_value(std::string_view message) {
  Value value;
  for_each_field(message, [&](ProtobufReader& r) {
    if (r.field() == 1) value.name = text_of(r);
    if (r.field() != 2) return;
    for_each_field(r.bytes(), [&](ProtobufReader& type) {
      if (type.field() == 1) {
        value.kind = Value::Kind::tensor;
        read_tensor_type(type.bytes(), value);
      } else if (type.field() == 4) {
        value.kind = Value::Kind::sequence;
      } else if (type.field() == 5) {
        value.kind = Value::Kind::map;
      }
    });
  });
  return value;
}

Graph read_graph(std::string_view message, unsigned depth) {
  Graph graph;
  for_each_field(message, [&](ProtobufReader& r) {
    switch (r.field()) {
      case 1:
        graph.nodes.push_back(read_node(r.bytes(), depth));
        break;
      case 2:
        graph.name = text_of(r);
        break;
      case 5:
        graph.initialisers.push_back(read_tensor(r.bytes()));
        break;
      case 11:
        graph.inputs.push_back(read_value(r.bytes()));
        break;
      case 12:
        graph.outputs.push_back(read_value(r.bytes()));
        break;
      case 13:
        graph.inner.push_back(read_value(r.bytes()));
        break;
      default:
        break;
    }
  });
  // Files before IR version 4 list initialisers among the inputs.
  std::erase_if(graph.inputs,
                [&](const Value& input) { return graph.find_initialiser(input.name) != nullptr; });
  return graph;
}

Opset read_opset(std::string_view message) {
  Opset opset;
  for_each_field(message, [&](ProtobufReader& r) {
    if (r.field() == 1) opset.domain = text_of(r);
    if (r.field() == 2) opset.version = integer_of(r);
  });
  if (opset.domain == "ai.onnx") opset.domain.clear();
  return opset;
}

// The wire type of the fields of ModelProto; anything else at the outermost level is no ONNX file.
bool is_model_field(std::uint32_t field, Wire wire) {
  constexpr std::uint32_t kNumbers[] = {1, 5};
  constexpr std::uint32_t kBytes[] = {2, 3, 4, 6, 7, 8, 14, 20, 25, 26};
  const auto in = [&](const auto& list) { return std::ranges::find(list, field) != std::end(list); };
  return wire == Wire::varint ? in(kNumbers) : wire == Wire::bytes && in(kBytes);
}

}  // namespace

const Attribute* Node::find(std::string_view wanted) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == wanted) return &attribute;
  }
  return nullptr;
}

const Tensor* Graph::find_initialiser(std::string_view wanted) const {
  for (const Tensor& tensor : initialisers) {
    if (tensor.name == wanted) return &tensor;
  }
  return nullptr;
}

bool looks_like_onnx(std::string_view content) {
  constexpr std::uint64_t kVersions = 1000;  // an IR version; they are small
  ProtobufReader reader(content);
  bool version = false;
  std::size_t fields = 0;
  while (reader.next()) {
    if (!is_model_field(reader.field(), reader.wire())) return false;
    if (reader.field() == 1) {
      if (reader.varint() == 0 || reader.varint() > kVersions) return false;
      version = true;
    }
    ++fields;
  }
  // A file that is cut short still has its beginning.
  return version && fields >= (reader.broken() ? 1U : 2U);
}

Document parse_document(std::string_view content, const std::string& path) {
  Document document;
  bool has_graph = false;
  try {
    for_each_field(content, [&](ProtobufReader& r) {
      switch (r.field()) {
        case 1:
          document.ir_version = integer_of(r);
          break;
        case 2:
          document.producer = text_of(r);
          break;
        case 3:
          document.producer_version = text_of(r);
          break;
        case 7:
          document.graph = read_graph(r.bytes(), 0);
          has_graph = true;
          break;
        case 8:
          document.opsets.push_back(read_opset(r.bytes()));
          break;
        case 25:
          document.has_functions = true;
          break;
        default:
          break;
      }
    });
  } catch (const Broken&) {
    throw input_error(fmt::format("{}: the ONNX file is broken", path),
                      "it may be cut short; export or copy it again");
  }
  if (!has_graph) {
    throw input_error(fmt::format("{}: the ONNX file has no graph", path),
                      "it may be cut short; export or copy it again");
  }
  return document;
}

bool has_trees(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    if (node.domain == "ai.onnx.ml" && node.op.starts_with("TreeEnsemble")) return true;
    return std::ranges::any_of(node.attributes,
                               [](const Attribute& a) { return std::ranges::any_of(a.graphs, has_trees); });
  });
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

std::string operator_name(const Node& node) {
  return shown(node.domain.empty() ? node.op : fmt::format("{}.{}", node.domain, node.op));
}

}  // namespace hifi::onnx
