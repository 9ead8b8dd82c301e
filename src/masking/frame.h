// Rows in the model's own column order and codes, ready to be sent to it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/table.h"

namespace hifi {

// The input columns of a model as masking needs to know them.
struct InputColumns {
  std::vector<std::string> names;                    // in the model's order
  std::vector<std::vector<std::string>> categories;  // per column, in code order; empty: a plain number
};

struct Frame {
  std::size_t rows = 0;
  std::size_t width = 0;
  std::vector<double> values;  // row-major

  std::span<const double> row(std::size_t r) const { return {values.data() + r * width, width}; }
  std::span<double> row(std::size_t r) { return {values.data() + r * width, width}; }
};

// Takes the named columns out of a table. Throws Error(input) naming the column, and the row of a value
// that is no category of the model.
Frame make_frame(const Table& table, const InputColumns& columns);

// A hash of the values, hexadecimal.
std::string frame_hash(const Frame& frame, const InputColumns& columns);

}  // namespace hifi
