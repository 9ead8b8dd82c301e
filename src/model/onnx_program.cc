#include "model/onnx_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "hifi/error.h"
#include "model/onnx_compiler.h"

namespace hifi::onnx {

namespace {

constexpr std::size_t kMaxColumns = std::size_t{1} << 26;

// The output that holds probabilities, else the first of numbers.
std::size_t choose_output(const Graph& graph) {
  const auto is_numbers = [](const Value& value) {
    return value.kind == Value::Kind::tensor &&
           (value.type == Element::float32 || value.type == Element::float64);
  };
  const auto& outputs = graph.outputs;
  const auto first = [&](auto wanted) {
    return static_cast<std::size_t>(std::ranges::find_if(outputs, wanted) - outputs.begin());
  };
  const std::size_t map = first([](const Value& v) { return v.kind == Value::Kind::sequence; });
  if (map < outputs.size()) return map;
  const std::size_t named =
      first([&](const Value& v) { return is_numbers(v) && v.name.find("prob") != std::string::npos; });
  if (named < outputs.size()) return named;
  const std::size_t numbers = first(is_numbers);
  return numbers < outputs.size() ? numbers : 0;
}

const Value& select_output(const Graph& graph, const std::string& wanted, const std::string& path) {
  if (graph.outputs.empty()) throw input_error(fmt::format("{}: the graph has no output", path));
  if (wanted.empty()) return graph.outputs[choose_output(graph)];
  for (const Value& value : graph.outputs) {
    if (value.name == wanted) return value;
  }
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  if (code == std::errc{} && end == wanted.data() + wanted.size() && index < graph.outputs.size()) {
    return graph.outputs[index];
  }
  std::vector<std::string> names;
  for (const Value& value : graph.outputs) names.push_back(shown(value.name));
  throw input_error(fmt::format("--output {}: {} has no such output", wanted, path),
                    fmt::format("it has {}", fmt::join(names, ", ")));
}

void add_constants(Compiler& compiler, const Graph& graph, const std::set<std::string>& needed) {
  for (const Tensor& tensor : graph.initialisers) {
    if (!needed.contains(tensor.name)) continue;
    Slot slot{.type = tensor.type, .constant = true};
    if (tensor.type == Element::text) {
      slot.texts = tensor_texts(tensor, compiler.path());
      slot.columns = slot.texts.size();
    } else {
      slot.cells = tensor_numbers(tensor, compiler.path());
      slot.columns = slot.cells.size();
    }
    slot.sources.assign(slot.columns, kNoSource);
    compiler.bind(tensor.name, compiler.add_slot(std::move(slot)));
  }
}

// Inputs are columns of the table, one behind the other.
void add_inputs(Compiler& compiler, const Graph& graph, std::size_t columns) {
  Program& program = compiler.program();
  for (const Value& input : graph.inputs) {
    const std::string name = fmt::format("{}: input \"{}\"", compiler.path(), shown(input.name));
    const std::size_t rank = input.shape.size();
    if (input.kind != Value::Kind::tensor || (input.has_shape && (rank == 0 || rank > 2))) {
      throw input_error(fmt::format("{} is no table of rows and columns", name));
    }
    std::int64_t width = rank == 1 ? 1 : -1;
    if (rank == 2) width = input.shape[1].size;
    if (width < 0 && graph.inputs.size() == 1) width = static_cast<std::int64_t>(columns);
    if (width < 1 || width > static_cast<std::int64_t>(kMaxColumns)) {
      throw input_error(fmt::format("{}: its number of columns is not known", name),
                        "export the model with the number of columns in the shape of its input");
    }
    Slot slot{.type = input.type, .columns = static_cast<std::size_t>(width)};
    for (std::size_t c = 0; c < slot.columns; ++c) {
      slot.sources.push_back(static_cast<std::int32_t>(program.width + c));
    }
    program.width += slot.columns;
    program.inputs.push_back(compiler.add_slot(std::move(slot)));
    program.input_names.push_back(input.name);
    compiler.bind(input.name, program.inputs.back());
  }
  if (program.width == 0) throw input_error(fmt::format("{}: the graph has no input", compiler.path()));
}

// Nodes stand in the order of computation: one pass backwards finds what an output needs.
std::vector<const Node*> needed_nodes(const Graph& graph, std::set<std::string>& names) {
  std::vector<const Node*> nodes;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (std::ranges::none_of(node.outputs, [&](const std::string& o) { return names.contains(o); })) continue;
    names.insert(node.inputs.begin(), node.inputs.end());
    nodes.push_back(&node);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

Program compile_once(const Document& document, const std::string& output, std::size_t columns,
                     const std::string& path, std::vector<std::vector<std::string>> categories) {
  Program program;
  program.categories = std::move(categories);
  Compiler compiler(program, document, path);
  const Graph& graph = document.graph;
  const Value& wanted = select_output(graph, output, path);
  std::set<std::string> names = {wanted.name};
  const std::vector<const Node*> nodes = needed_nodes(graph, names);
  add_constants(compiler, graph, names);
  add_inputs(compiler, graph, columns);
  program.categories.resize(program.width);
  for (const Node* node : nodes) {
    const Operator compile_node = find_operator(*node);
    if (compile_node == nullptr) {
      throw input_error(
          fmt::format("{}: operator {} is not supported beside trees", path, operator_name(*node)),
          "serve the model with process:CMD instead");
    }
    compile_node(compiler, *node);
  }
  if (!compiler.has(wanted.name)) {
    throw input_error(fmt::format("{}: output \"{}\" holds no numbers", path, shown(wanted.name)),
                      "choose the one with the probabilities by --output NAME");
  }
  program.output = compiler.find(wanted.name);
  program.output_name = wanted.name;
  const Slot& slot = program.slots[program.output];
  if (slot.constant || slot.type == Element::text) {
    throw input_error(fmt::format("{}: output \"{}\" does not depend on the rows", path, shown(wanted.name)));
  }
  return program;
}

}  // namespace

double round_to(Element type, double value) {
  if (type == Element::float32) return static_cast<double>(static_cast<float>(value));
  return type == Element::int32 || type == Element::int64 ? std::trunc(value) : value;
}

Program compile(const Document& document, const std::string& output, std::size_t columns,
                const std::string& path) {
  // The first pass finds the texts that encoders ask for, the second uses their numbers.
  Program first = compile_once(document, output, columns, path, {});
  const bool texts = std::ranges::any_of(first.categories, [](const auto& c) { return !c.empty(); });
  return texts ? compile_once(document, output, columns, path, first.categories) : first;
}

void Program::run(std::size_t first, std::size_t end, std::size_t rows, std::vector<Cells>& values) const {
  for (std::size_t s = first; s < end; ++s) steps[s].run(rows, values);
}

std::vector<Cells> Program::make_values() const {
  std::vector<Cells> values(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].constant) values[i] = slots[i].cells;
  }
  return values;
}

void Program::fill_inputs(const double* rows, std::size_t count, std::vector<Cells>& values) const {
  std::size_t first = 0;
  for (const std::size_t input : inputs) {
    const Slot& slot = slots[input];
    Cells& cells = values[input];
    cells.resize(count * slot.columns);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t c = 0; c < slot.columns; ++c) {
        cells[r * slot.columns + c] = round_to(slot.type, rows[r * width + first + c]);
      }
    }
    first += slot.columns;
  }
}

}  // namespace hifi::onnx
