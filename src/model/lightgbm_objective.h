// What each LightGBM objective does to the sum of the trees.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/lightgbm_document.h"
#include "model/model.h"

namespace hifi::lightgbm {

enum class Conversion { identity, signed_square, exponential, sigmoid, softmax, log1p_exp };

struct Objective {
  std::string name;
  Task task = Task::unknown;
  Conversion conversion = Conversion::identity;
  double sigmoid = 1;    // steepness
  bool classes = false;  // as many outputs as classes
};

// Throws Error(input) that names an objective we do not support.
Objective find_objective(const Section& header);
// Throws unless the number of outputs suits the objective.
void check_outputs(const Objective& objective, std::size_t outputs, const Section& header);

// In place, the outputs of one row.
void convert_row(const Objective& objective, std::span<double> row);

// A text of the file for a message of one line.
std::string shown(std::string_view text);

}  // namespace hifi::lightgbm
