// An ONNX graph with tree ensembles, compiled into steps over blocks of rows.
//
// Every value that depends on the rows is a matrix, rows x columns; the number of columns is known before a
// row is seen. For each column it is known from which column of the input it comes: the trees can be computed
// as whole lattices if each of their inputs comes from one column (model/tree_ensemble.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/onnx_document.h"
#include "model/onnx_trees.h"

namespace hifi::onnx {

constexpr std::int32_t kNoSource = -1;     // a constant
constexpr std::int32_t kManySources = -2;  // several columns, or the trees

struct Slot {
  Element type = Element::float32;
  std::size_t columns = 1;
  std::vector<std::int32_t> sources;  // per column: of the input, or one of the above
  bool constant = false;
  bool from_trees = false;          // depends on a tree ensemble
  std::vector<double> cells;        // of a constant: one row
  std::vector<std::string> texts;   // of a constant of texts
  std::vector<std::string> labels;  // of scores of classes
  std::int32_t shape_of = -1;       // the shape of this slot
};

using Cells = std::vector<double>;  // rows x columns; a constant has one row

struct Step {
  std::vector<std::size_t> inputs;
  std::size_t output;
  std::function<void(std::size_t rows, std::vector<Cells>& values)> run;
};

struct Program {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<std::size_t> inputs;  // slots, in the order of the columns
  std::vector<std::string> input_names;
  std::size_t width = 0;
  std::vector<std::vector<std::string>> categories;  // of columns that hold texts
  std::size_t output = 0;
  std::string output_name;
  bool classifier = false;  // some node of the way is one

  // The last tree ensemble, and the step that walks it: its output slot holds the sums.
  std::shared_ptr<const TreeNode> trees;
  std::size_t tree_step = 0;
  std::size_t tree_nodes = 0;

  // Runs steps [first, end) on what `values` holds.
  void run(std::size_t first, std::size_t end, std::size_t rows, std::vector<Cells>& values) const;
  // A value per slot: constants are filled in.
  std::vector<Cells> make_values() const;
  // Cuts rows (row-major, all columns) into the input slots, each rounded to its type.
  void fill_inputs(const double* rows, std::size_t count, std::vector<Cells>& values) const;
};

// `output`: name, index or empty; `columns`: of the table, for inputs whose width the file leaves open.
// Throws Error(input): an operator that we do not run, shapes that do not fit, no such output.
Program compile(const Document& document, const std::string& output, std::size_t columns,
                const std::string& path);

// To the precision of a type.
double round_to(Element type, double value);

}  // namespace hifi::onnx
