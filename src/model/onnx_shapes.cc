// Operators that choose, join or sum up columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/onnx_compiler.h"

namespace hifi::onnx {

namespace {

// The chosen columns of a slot, one behind the other.
void add_selection(Compiler& compiler, const Node& node, std::size_t from, std::vector<std::size_t> chosen) {
  const Slot& slot = compiler.slot(from);
  if (slot.constant && slot.type == Element::text) compiler.fail(node, "does not work on constant texts");
  Slot output{.type = slot.type, .columns = chosen.size()};
  for (const std::size_t c : chosen) output.sources.push_back(slot.sources[c]);
  const std::size_t columns = slot.columns;
  compiler.add(node, {from}, std::move(output),
               [=, chosen = std::move(chosen)](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows * chosen.size());
                 for (std::size_t r = 0; r < rows; ++r) {
                   for (std::size_t k = 0; k < chosen.size(); ++k) {
                     values[to][r * chosen.size() + k] = values[from][r * columns + chosen[k]];
                   }
                 }
               });
}

std::size_t column_index(const Compiler& compiler, const Node& node, double index, std::size_t columns) {
  if (index < 0) index += static_cast<double>(columns);
  if (!(index >= 0 && index < static_cast<double>(columns)) || index != std::floor(index)) {
    compiler.fail(node, fmt::format("asks for column {} of {}", index, columns));
  }
  return static_cast<std::size_t>(index);
}

void select_constant_columns(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  if (compiler.slot(from).constant) compiler.fail(node, "looks up constants by rows, which is not supported");
  std::vector<std::size_t> chosen;
  for (const double index : compiler.constant(node, 1)) {
    chosen.push_back(column_index(compiler, node, index, compiler.slot(from).columns));
  }
  add_selection(compiler, node, from, std::move(chosen));
}

void compile_gather(Compiler& compiler, const Node& node) {
  const Attribute* axis = node.find("axis");
  compiler.require_columns_axis(node, axis == nullptr ? 0 : axis->integer);
  select_constant_columns(compiler, node);
}

void compile_identity(Compiler& compiler, const Node& node) { compiler.alias(node, compiler.input(node, 0)); }

// Rows stay rows: only the way of writing a row may change.
void compile_reshape(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  const Slot& slot = compiler.slot(from);
  if (slot.constant) {
    compiler.alias(node, from);
    return;
  }
  const Attribute* attribute = node.find("shape");
  std::vector<double> shape;
  if (attribute != nullptr) {
    shape.assign(attribute->integers.begin(), attribute->integers.end());
  } else {
    shape = compiler.constant(node, 1);
  }
  const auto columns = static_cast<double>(slot.columns);
  double row = 1;
  for (std::size_t k = 1; k < shape.size(); ++k) row *= shape[k] == -1 || shape[k] == 0 ? columns : shape[k];
  const bool rows_first = !shape.empty() && (shape[0] == -1 || shape[0] == 0);
  if (!rows_first || row != columns) {
    compiler.fail(node, fmt::format("makes other rows of rows of {} columns", slot.columns));
  }
  compiler.alias(node, from);
}

void compile_flatten(Compiler& compiler, const Node& node) {
  const Attribute* axis = node.find("axis");
  if (axis != nullptr && axis->integer != 1) compiler.require_columns_axis(node, axis->integer == 0 ? 0 : 2);
  compiler.alias(node, compiler.input(node, 0));
}

// Axes of the node: an attribute in old operator sets, an input since.
std::vector<double> axes_of(const Compiler& compiler, const Node& node, std::size_t k) {
  if (const Attribute* axes = node.find("axes")) return {axes->integers.begin(), axes->integers.end()};
  if (compiler.has_input(node, k)) return compiler.constant(node, k);
  return {};
}

void compile_squeeze(Compiler& compiler, const Node& node) {
  for (const double axis : axes_of(compiler, node, 1)) {
    if (axis == 0) compiler.fail(node, "works along the rows");
  }
  compiler.alias(node, compiler.input(node, 0));
}

void compile_concat(Compiler& compiler, const Node& node) {
  const Attribute* axis = node.find("axis");
  compiler.require_columns_axis(node, axis == nullptr ? 1 : axis->integer);
  std::vector<std::size_t> inputs;
  std::vector<Slot> slots;
  Slot output{.columns = 0};
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    inputs.push_back(compiler.input(node, k));
    const Slot& slot = compiler.slot(inputs.back());
    if (slot.constant && slot.type == Element::text) compiler.fail(node, "does not work on constant texts");
    output.type = slot.type;
    output.columns += slot.columns;
    output.sources.insert(output.sources.end(), slot.sources.begin(), slot.sources.end());
    slots.push_back({.columns = slot.columns, .constant = slot.constant});
  }
  if (inputs.size() == 1) {
    compiler.alias(node, inputs.front());
    return;
  }
  const std::size_t columns = output.columns;
  compiler.add(node, inputs, std::move(output),
               [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows * columns);
                 std::size_t first = 0;
                 for (std::size_t k = 0; k < inputs.size(); ++k) {
                   const Cell cell(values, inputs[k], slots[k]);
                   for (std::size_t r = 0; r < rows; ++r) {
                     for (std::size_t c = 0; c < slots[k].columns; ++c) {
                       values[to][r * columns + first + c] = cell(r, c);
                     }
                   }
                   first += slots[k].columns;
                 }
               });
}

void compile_slice(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  const auto columns = static_cast<double>(compiler.slot(from).columns);
  const auto list = [&](const char* name, std::size_t k) {
    const Attribute* attribute = node.find(name);
    if (attribute != nullptr)
      return std::vector<double>(attribute->integers.begin(), attribute->integers.end());
    return compiler.has_input(node, k) ? compiler.constant(node, k) : std::vector<double>{};
  };
  const std::vector<double> starts = list("starts", 1);
  const std::vector<double> ends = list("ends", 2);
  const std::vector<double> axes = list("axes", 3);
  const std::vector<double> steps = list("steps", 4);
  if (starts.size() != 1 || ends.size() != 1 || axes.size() != 1 || (!steps.empty() && steps[0] != 1)) {
    compiler.fail(node, "only a range of columns is supported");
  }
  compiler.require_columns_axis(node, static_cast<std::int64_t>(axes[0]));
  const auto bound = [&](double at) { return std::clamp(at < 0 ? at + columns : at, 0.0, columns); };
  std::vector<std::size_t> chosen;
  for (double c = bound(starts[0]); c < bound(ends[0]); ++c) chosen.push_back(static_cast<std::size_t>(c));
  if (chosen.empty()) compiler.fail(node, "leaves no column");
  add_selection(compiler, node, from, std::move(chosen));
}

// A number per row, of all its columns.
template <class Function>
void add_reduction(Compiler& compiler, const Node& node, std::size_t from, Element type, Function function) {
  const Slot& slot = compiler.slot(from);
  if (slot.type == Element::text || slot.shape_of >= 0) compiler.fail(node, "works on numbers only");
  const std::size_t columns = slot.columns;
  Slot output{.type = type, .columns = 1, .sources = {merged_source(slot)}};
  compiler.add(node, {from}, std::move(output),
               [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows);
                 for (std::size_t r = 0; r < rows; ++r) {
                   values[to][r] = round_to(type, function(values[from].data() + r * columns, columns));
                 }
               });
}

template <double (*kFunction)(const double*, std::size_t)>
void reduce(Compiler& compiler, const Node& node) {
  const std::vector<double> axes = axes_of(compiler, node, 1);
  if (axes.size() != 1) compiler.fail(node, "only sums over the columns are supported");
  compiler.require_columns_axis(node, static_cast<std::int64_t>(axes[0]));
  const std::size_t from = compiler.input(node, 0);
  add_reduction(compiler, node, from, compiler.slot(from).type, kFunction);
}

double sum_of(const double* cells, std::size_t count) { return std::accumulate(cells, cells + count, 0.0); }
double mean_of(const double* cells, std::size_t count) {
  return sum_of(cells, count) / static_cast<double>(count);
}
double product_of(const double* cells, std::size_t count) {
  double product = 1;
  for (std::size_t c = 0; c < count; ++c) product *= cells[c];
  return product;
}
double largest_of(const double* cells, std::size_t count) { return *std::max_element(cells, cells + count); }
double smallest_of(const double* cells, std::size_t count) { return *std::min_element(cells, cells + count); }
double place_of_largest(const double* cells, std::size_t count) {
  return static_cast<double>(std::max_element(cells, cells + count) - cells);
}

void compile_arg_max(Compiler& compiler, const Node& node) {
  const Attribute* axis = node.find("axis");
  compiler.require_columns_axis(node, axis == nullptr ? 0 : axis->integer);
  add_reduction(compiler, node, compiler.input(node, 0), Element::int64, place_of_largest);
}

void compile_softmax(Compiler& compiler, const Node& node) {
  const Attribute* axis = node.find("axis");
  compiler.require_columns_axis(node, axis == nullptr ? -1 : axis->integer);
  const std::size_t from = compiler.input(node, 0);
  const Slot& slot = compiler.slot(from);
  const std::size_t columns = slot.columns;
  Slot output{.type = slot.type, .columns = columns};
  output.sources.assign(columns, merged_source(slot));
  compiler.add(node, {from}, std::move(output),
               [=, type = slot.type](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows * columns);
                 for (std::size_t r = 0; r < rows; ++r) {
                   const double* in = values[from].data() + r * columns;
                   double* out = values[to].data() + r * columns;
                   const double largest = largest_of(in, columns);
                   double sum = 0;
                   for (std::size_t c = 0; c < columns; ++c) sum += out[c] = std::exp(in[c] - largest);
                   for (std::size_t c = 0; c < columns; ++c) out[c] = round_to(type, out[c] / sum);
                 }
               });
}

// A shape is good for one thing here: to make a table of one number beside another table.
void compile_shape(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  if (compiler.slot(from).constant) compiler.fail(node, "of a constant is not supported");
  const Slot shape{.type = Element::int64,
                   .columns = 2,
                   .sources = {kNoSource, kNoSource},
                   .shape_of = static_cast<std::int32_t>(from)};
  compiler.bind(node.outputs.at(0), compiler.add_slot(shape));
}

void compile_constant_of_shape(Compiler& compiler, const Node& node) {
  const Slot& shape = compiler.slot(compiler.input(node, 0));
  if (shape.shape_of < 0) compiler.fail(node, "only the shape of a table is supported");
  const std::size_t columns = compiler.slot(static_cast<std::size_t>(shape.shape_of)).columns;
  Slot output{.columns = columns, .sources = std::vector<std::int32_t>(columns, kNoSource), .constant = true};
  double value = 0;
  if (const Attribute* attribute = node.find("value")) {
    if (attribute->tensors.size() != 1) compiler.fail(node, "its value is no tensor");
    const std::vector<double> cells = tensor_numbers(attribute->tensors.front(), compiler.path());
    if (cells.size() != 1) compiler.fail(node, "its value is no single number");
    value = cells.front();
    output.type = attribute->tensors.front().type;
  }
  output.cells.assign(columns, value);
  compiler.bind(node.outputs.at(0), compiler.add_slot(std::move(output)));
}

void compile_constant(Compiler& compiler, const Node& node) {
  const Attribute* attribute = node.find("value");
  if (attribute == nullptr || attribute->tensors.size() != 1) compiler.fail(node, "has no tensor");
  const Tensor& tensor = attribute->tensors.front();
  Slot slot{.type = tensor.type, .constant = true, .cells = tensor_numbers(tensor, compiler.path())};
  slot.columns = slot.cells.size();
  slot.sources.assign(slot.columns, kNoSource);
  compiler.bind(node.outputs.at(0), compiler.add_slot(std::move(slot)));
}

}  // namespace

Operator find_shape_operator(const std::string& op) {
  static const std::map<std::string, Operator> kOperators = {
      {"Identity", compile_identity},
      {"Reshape", compile_reshape},
      {"Flatten", compile_flatten},
      {"Squeeze", compile_squeeze},
      {"Unsqueeze", compile_squeeze},
      {"Concat", compile_concat},
      {"Gather", compile_gather},
      {"Slice", compile_slice},
      {"ReduceSum", reduce<sum_of>},
      {"ReduceMean", reduce<mean_of>},
      {"ReduceProd", reduce<product_of>},
      {"ReduceMax", reduce<largest_of>},
      {"ReduceMin", reduce<smallest_of>},
      {"ArgMax", compile_arg_max},
      {"Softmax", compile_softmax},
      {"Shape", compile_shape},
      {"ConstantOfShape", compile_constant_of_shape},
      {"Constant", compile_constant},
      {"ArrayFeatureExtractor", select_constant_columns},
  };
  const auto found = kOperators.find(op);
  return found == kOperators.end() ? nullptr : found->second;
}

}  // namespace hifi::onnx
