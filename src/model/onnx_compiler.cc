#include "model/onnx_compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "hifi/error.h"

namespace hifi::onnx {

Compiler::Compiler(Program& program, const Document& document, std::string path)
    : program_(program), path_(std::move(path)) {
  for (const Opset& opset : document.opsets) {
    if (opset.domain.empty()) opset_ = opset.version;
  }
}

void Compiler::bind(const std::string& name, std::size_t slot) {
  if (name.empty()) return;
  if (!names_.emplace(name, slot).second) {
    throw input_error(fmt::format("{}: two nodes of the graph make \"{}\"", path_, shown(name)));
  }
}

std::size_t Compiler::add_slot(Slot slot) {
  program_.slots.push_back(std::move(slot));
  return program_.slots.size() - 1;
}

void Compiler::fail(const Node& node, const std::string& problem, const std::string& hint) const {
  const std::string name = node.name.empty() ? "" : fmt::format(" \"{}\"", shown(node.name));
  throw input_error(fmt::format("{}: {}{}: {}", path_, operator_name(node), name, problem), hint);
}

bool Compiler::has_input(const Node& node, std::size_t k) const {
  return k < node.inputs.size() && !node.inputs[k].empty();
}

std::size_t Compiler::input(const Node& node, std::size_t k) const {
  if (!has_input(node, k)) fail(node, fmt::format("has no input {}", k));
  const auto found = names_.find(node.inputs[k]);
  if (labels_.contains(node.inputs[k])) {
    fail(node, fmt::format("\"{}\" holds labels of classes, no numbers", shown(node.inputs[k])),
         "choose the output with the probabilities by --output NAME");
  }
  if (found == names_.end()) fail(node, fmt::format("its input \"{}\" is not known", shown(node.inputs[k])));
  return found->second;
}

const std::vector<double>& Compiler::constant(const Node& node, std::size_t k) const {
  const Slot& found = slot(input(node, k));
  if (!found.constant || found.type == Element::text) {
    fail(node, fmt::format("its input \"{}\" must be a constant", shown(node.inputs[k])));
  }
  return found.cells;
}

void Compiler::require_columns_axis(const Node& node, std::int64_t axis) const {
  if (axis != 1 && axis != -1)
    fail(node, fmt::format("works along axis {}; only columns are supported", axis));
}

void Compiler::add(const Node& node, std::vector<std::size_t> inputs, Slot output,
                   std::function<void(std::size_t, std::vector<Cells>&, std::size_t)> run) {
  if (node.outputs.empty()) fail(node, "has no output");
  output.sources.resize(output.columns, kNoSource);
  output.constant = std::ranges::all_of(inputs, [&](std::size_t i) { return slot(i).constant; });
  output.from_trees = std::ranges::any_of(inputs, [&](std::size_t i) { return slot(i).from_trees; });
  const bool constant = output.constant;
  const std::size_t to = add_slot(std::move(output));
  bind(node.outputs[0], to);
  if (!constant) {
    program_.steps.push_back(
        {std::move(inputs), to, [run = std::move(run), to](std::size_t rows, std::vector<Cells>& values) {
           run(rows, values, to);
         }});
    return;
  }
  std::vector<Cells> values = program_.make_values();
  run(1, values, to);
  program_.slots[to].cells = std::move(values[to]);
}

void Compiler::ask_for_texts(std::int32_t source, const std::vector<std::string>& texts) {
  if (source < 0) return;
  auto& known = program_.categories[static_cast<std::size_t>(source)];
  for (const std::string& text : texts) {
    if (std::ranges::find(known, text) == known.end()) known.push_back(text);
  }
}

std::int32_t merge_sources(std::int32_t a, std::int32_t b) {
  if (a == kNoSource || a == b) return b;
  return b == kNoSource ? a : kManySources;
}

std::int32_t merged_source(const Slot& slot) {
  std::int32_t source = kNoSource;
  for (const std::int32_t one : slot.sources) source = merge_sources(source, one);
  return source;
}

Operator find_operator(const Node& node) {
  if (node.domain == "ai.onnx.ml") {
    if (node.op == "TreeEnsembleRegressor" || node.op == "TreeEnsembleClassifier" ||
        node.op == "TreeEnsemble") {
      return compile_trees;
    }
    return find_encoder(node.op);
  }
  if (!node.domain.empty()) return nullptr;
  const Operator arithmetic = find_arithmetic(node.op);
  return arithmetic != nullptr ? arithmetic : find_shape_operator(node.op);
}

// Two steps: the walk, whose output is the sums, and what is made of them.
void compile_trees(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  const Slot input = compiler.slot(from);
  if (input.constant || input.type == Element::text) compiler.fail(node, "its input is no table of numbers");
  auto trees = std::make_shared<const TreeNode>(read_trees(node, input.columns, compiler.path()));
  Program& program = compiler.program();
  ++program.tree_nodes;
  program.trees = trees;
  program.tree_step = program.steps.size();
  program.classifier |= trees->rule.classifier;

  const bool doubles = trees->rule.double_precision;
  // The older operators sum doubles but give floats.
  const Element sum_type = doubles ? Element::float64 : Element::float32;
  const Element type = node.op == "TreeEnsemble" ? sum_type : Element::float32;
  const auto sources = [](std::size_t columns) { return std::vector<std::int32_t>(columns, kManySources); };
  const std::size_t sums = trees->rule.sums;
  const std::size_t scores = trees->rule.scores;
  const std::size_t raw =
      compiler.add_slot({.type = sum_type, .columns = sums, .sources = sources(sums), .from_trees = true});
  const std::size_t out = compiler.add_slot({.type = type,
                                             .columns = scores,
                                             .sources = sources(scores),
                                             .from_trees = true,
                                             .labels = trees->labels});
  program.steps.push_back({{from}, raw, [=](std::size_t rows, std::vector<Cells>& values) {
                             values[raw].resize(rows * sums);
                             trees->forest.predict(values[from].data(), rows, values[raw].data());
                           }});
  program.steps.push_back({{raw}, out, [=](std::size_t rows, std::vector<Cells>& values) {
                             values[out].resize(rows * scores);
                             for (std::size_t r = 0; r < rows; ++r) {
                               finish_scores(trees->rule, std::span(values[raw]).subspan(r * sums, sums),
                                             std::span(values[out]).subspan(r * scores, scores));
                             }
                             for (double& score : values[out]) score = round_to(type, score);
                           }});
  if (trees->rule.classifier && !node.outputs.empty()) compiler.bind_labels(node.outputs[0]);
  const std::size_t place = trees->rule.classifier ? 1 : 0;
  if (node.outputs.size() > place) compiler.bind(node.outputs[place], out);
}

}  // namespace hifi::onnx
