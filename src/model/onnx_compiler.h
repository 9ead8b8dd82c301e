// What the operators of a graph see while it is compiled.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/onnx_program.h"

namespace hifi::onnx {

class Compiler {
 public:
  Compiler(Program& program, const Document& document, std::string path);

  Program& program() { return program_; }
  const std::string& path() const { return path_; }
  std::int64_t opset() const { return opset_; }  // of ai.onnx

  // Slots by the name of a value.
  bool has(const std::string& name) const { return names_.contains(name); }
  std::size_t find(const std::string& name) const { return names_.at(name); }
  void bind(const std::string& name, std::size_t slot);
  // A value that is no number: whoever asks for it is told so.
  void bind_labels(const std::string& name) { labels_.insert(name); }
  std::size_t add_slot(Slot slot);
  const Slot& slot(std::size_t index) const { return program_.slots[index]; }

  // Of input k of the node. Throws if there is none.
  std::size_t input(const Node& node, std::size_t k) const;
  bool has_input(const Node& node, std::size_t k) const;
  // Its elements, if it is a constant of numbers; throws otherwise.
  const std::vector<double>& constant(const Node& node, std::size_t k) const;
  // An axis or a list of them that must be the columns: 1, or -1. Throws otherwise.
  void require_columns_axis(const Node& node, std::int64_t axis) const;

  // The output of the node is another name for a slot.
  void alias(const Node& node, std::size_t slot) { bind(node.outputs.at(0), slot); }
  // The output of the node is computed. If all inputs are constants, so is it.
  void add(const Node& node, std::vector<std::size_t> inputs, Slot output,
           std::function<void(std::size_t, std::vector<Cells>&, std::size_t to)> run);

  // A column of texts comes from the table: remembers that the model asks for these.
  void ask_for_texts(std::int32_t source, const std::vector<std::string>& texts);

  [[noreturn]] void fail(const Node& node, const std::string& problem, const std::string& hint = "") const;

 private:
  Program& program_;
  std::string path_;
  std::int64_t opset_ = 0;
  std::map<std::string, std::size_t> names_;
  std::set<std::string> labels_;
};

// A cell of a value, with its only row or column repeated as need be.
class Cell {
 public:
  Cell(const std::vector<Cells>& values, std::size_t index, const Slot& slot)
      : cells_(values[index].data()), columns_(slot.columns), row_step_(slot.constant ? 0 : slot.columns) {}
  double operator()(std::size_t row, std::size_t column) const {
    return cells_[row * row_step_ + (columns_ == 1 ? 0 : column)];
  }

 private:
  const double* cells_;
  std::size_t columns_, row_step_;
};

using Operator = void (*)(Compiler&, const Node&);
// nullptr: not known.
Operator find_operator(const Node& node);
// Where find_operator() looks.
Operator find_arithmetic(const std::string& op);
Operator find_shape_operator(const std::string& op);
Operator find_encoder(const std::string& op);
void compile_trees(Compiler& compiler, const Node& node);

std::int32_t merge_sources(std::int32_t a, std::int32_t b);
// One column whose source is all of the slot's.
std::int32_t merged_source(const Slot& slot);

}  // namespace hifi::onnx
