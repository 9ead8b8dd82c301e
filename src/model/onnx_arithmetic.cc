// Operators that look at one cell of each input at a time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/onnx_compiler.h"

namespace hifi::onnx {

namespace {

// The rows and columns of all inputs together; a single column goes with any number of them.
Slot shape_together(const Compiler& compiler, const Node& node, const std::vector<std::size_t>& inputs) {
  Slot shape{.columns = 1};
  for (const std::size_t i : inputs) {
    const Slot& slot = compiler.slot(i);
    if (slot.type == Element::text) compiler.fail(node, "does not work on texts");
    if (slot.shape_of >= 0) compiler.fail(node, "does not work on shapes");
    if (slot.columns != 1 && shape.columns != 1 && slot.columns != shape.columns) {
      compiler.fail(node, fmt::format("{} columns do not go with {}", slot.columns, shape.columns));
    }
    if (slot.columns != 1) shape.columns = slot.columns;
  }
  shape.sources.assign(shape.columns, kNoSource);
  for (const std::size_t i : inputs) {
    const Slot& slot = compiler.slot(i);
    for (std::size_t c = 0; c < shape.columns; ++c) {
      shape.sources[c] = merge_sources(shape.sources[c], slot.sources[slot.columns == 1 ? 0 : c]);
    }
  }
  shape.type = compiler.slot(inputs.front()).type;
  return shape;
}

std::vector<std::size_t> all_inputs(const Compiler& compiler, const Node& node) {
  std::vector<std::size_t> inputs;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) inputs.push_back(compiler.input(node, k));
  if (inputs.empty()) compiler.fail(node, "has no input");
  return inputs;
}

template <class Function>
void add_unary(Compiler& compiler, const Node& node, Element type, Function function) {
  const std::size_t from = compiler.input(node, 0);
  Slot output = shape_together(compiler, node, {from});
  const std::size_t columns = output.columns;
  output.type = type;
  compiler.add(node, {from}, std::move(output),
               [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows * columns);
                 for (std::size_t i = 0; i < rows * columns; ++i) {
                   values[to][i] = round_to(type, function(values[from][i]));
                 }
               });
}

template <double (*kFunction)(double)>
void unary(Compiler& compiler, const Node& node) {
  add_unary(compiler, node, compiler.slot(compiler.input(node, 0)).type, kFunction);
}

// Folds any number of inputs from the left; comparisons give 0 and 1.
template <double (*kFunction)(double, double), bool kTruth = false>
void fold(Compiler& compiler, const Node& node) {
  const std::vector<std::size_t> inputs = all_inputs(compiler, node);
  Slot output = shape_together(compiler, node, inputs);
  const Element type = output.type = kTruth ? Element::boolean : output.type;
  const std::size_t columns = output.columns;
  std::vector<Slot> slots;
  for (const std::size_t i : inputs) {
    slots.push_back({.columns = compiler.slot(i).columns, .constant = compiler.slot(i).constant});
  }
  compiler.add(node, inputs, std::move(output),
               [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 Cells& out = values[to];
                 out.resize(rows * columns);
                 for (std::size_t k = 0; k < inputs.size(); ++k) {
                   const Cell cell(values, inputs[k], slots[k]);
                   for (std::size_t r = 0; r < rows; ++r) {
                     for (std::size_t c = 0; c < columns; ++c) {
                       double& value = out[r * columns + c];
                       value = k == 0 ? cell(r, c) : round_to(type, kFunction(value, cell(r, c)));
                     }
                   }
                 }
               });
}

void compile_where(Compiler& compiler, const Node& node) {
  const std::vector<std::size_t> inputs = all_inputs(compiler, node);
  if (inputs.size() != 3) compiler.fail(node, "needs three inputs");
  Slot output = shape_together(compiler, node, inputs);
  output.type = compiler.slot(inputs[1]).type;
  const std::size_t columns = output.columns;
  std::vector<Slot> slots;
  for (const std::size_t i : inputs) {
    slots.push_back({.columns = compiler.slot(i).columns, .constant = compiler.slot(i).constant});
  }
  compiler.add(node, inputs, std::move(output),
               [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows * columns);
                 const Cell choice(values, inputs[0], slots[0]);
                 const Cell yes(values, inputs[1], slots[1]);
                 const Cell no(values, inputs[2], slots[2]);
                 for (std::size_t r = 0; r < rows; ++r) {
                   for (std::size_t c = 0; c < columns; ++c) {
                     values[to][r * columns + c] = choice(r, c) != 0 ? yes(r, c) : no(r, c);
                   }
                 }
               });
}

void compile_clip(Compiler& compiler, const Node& node) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  const auto bound = [&](const char* name, std::size_t k, double& value) {
    if (const Attribute* attribute = node.find(name)) value = attribute->number;
    if (!compiler.has_input(node, k)) return;
    const std::vector<double>& cells = compiler.constant(node, k);
    if (cells.size() != 1) compiler.fail(node, fmt::format("{} is no single number", name));
    value = cells[0];
  };
  bound("min", 1, low);
  bound("max", 2, high);
  add_unary(compiler, node, compiler.slot(compiler.input(node, 0)).type,
            [=](double value) { return std::isnan(value) ? value : std::min(std::max(value, low), high); });
}

void compile_cast(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  const Attribute* to = node.find("to");
  const auto type = static_cast<Element>(to == nullptr ? 0 : static_cast<std::int32_t>(to->integer));
  const Slot& slot = compiler.slot(from);
  const bool widens = type == slot.type || (type == Element::float64 && slot.type != Element::text);
  if (widens && type == slot.type) {
    compiler.alias(node, from);
    return;
  }
  switch (type) {
    case Element::float32:
    case Element::float64:
      add_unary(compiler, node, type, [](double value) { return value; });
      return;
    case Element::int32:
    case Element::int64:
      add_unary(compiler, node, type, [](double value) { return std::trunc(value); });
      return;
    case Element::boolean:
      add_unary(compiler, node, type, [](double value) { return value != 0 ? 1.0 : 0.0; });
      return;
    default:
      compiler.fail(node, fmt::format("to element type {} is not supported", static_cast<int>(type)));
  }
}

double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }
double divide(double a, double b) { return a / b; }
double power(double a, double b) { return std::pow(a, b); }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double equal(double a, double b) { return a == b ? 1 : 0; }
double less(double a, double b) { return a < b ? 1 : 0; }
double less_equal(double a, double b) { return a <= b ? 1 : 0; }
double greater(double a, double b) { return a > b ? 1 : 0; }
double greater_equal(double a, double b) { return a >= b ? 1 : 0; }
double both(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }
double either(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }

double exponential(double a) { return std::exp(a); }
double logarithm(double a) { return std::log(a); }
double square_root(double a) { return std::sqrt(a); }
double absolute(double a) { return std::fabs(a); }
double minus(double a) { return -a; }
double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }
double tangent(double a) { return std::tanh(a); }
double positive_part(double a) { return a < 0 ? 0 : a; }
double reciprocal(double a) { return 1 / a; }
double round_down(double a) { return std::floor(a); }
double round_up(double a) { return std::ceil(a); }
double opposite(double a) { return a != 0 ? 0 : 1; }

void compile_is_nan(Compiler& compiler, const Node& node) {
  add_unary(compiler, node, Element::boolean, [](double value) { return std::isnan(value) ? 1.0 : 0.0; });
}

}  // namespace

Operator find_arithmetic(const std::string& op) {
  static const std::map<std::string, Operator> kOperators = {
      {"Add", fold<add>},
      {"Sum", fold<add>},
      {"Sub", fold<subtract>},
      {"Mul", fold<multiply>},
      {"Div", fold<divide>},
      {"Pow", fold<power>},
      {"Min", fold<smaller>},
      {"Max", fold<larger>},
      {"Equal", fold<equal, true>},
      {"Less", fold<less, true>},
      {"LessOrEqual", fold<less_equal, true>},
      {"Greater", fold<greater, true>},
      {"GreaterOrEqual", fold<greater_equal, true>},
      {"And", fold<both, true>},
      {"Or", fold<either, true>},
      {"Not", unary<opposite>},
      {"Exp", unary<exponential>},
      {"Log", unary<logarithm>},
      {"Sqrt", unary<square_root>},
      {"Abs", unary<absolute>},
      {"Neg", unary<minus>},
      {"Sigmoid", unary<sigmoid>},
      {"Tanh", unary<tangent>},
      {"Relu", unary<positive_part>},
      {"Reciprocal", unary<reciprocal>},
      {"Floor", unary<round_down>},
      {"Ceil", unary<round_up>},
      {"IsNaN", compile_is_nan},
      {"Where", compile_where},
      {"Clip", compile_clip},
      {"Cast", compile_cast},
  };
  const auto found = kOperators.find(op);
  return found == kOperators.end() ? nullptr : found->second;
}

}  // namespace hifi::onnx
