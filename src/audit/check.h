// Checks of a model before it is trusted with a long run.
#pragma once

#include <string>
#include <vector>

#include "loss/loss.h"
#include "masking/frame.h"
#include "model/model.h"

namespace hifi {

// Asks the same rows twice; Error(model) if the answers differ by a single bit. Also puts them through the
// loss's own checks.
struct Probe {
  double seconds_per_row = 0;       // for the forecast
  std::vector<double> predictions;  // of the first rows, checked
};
Probe check_deterministic(const Model& model, const Loss& loss, const Frame& rows);

// Compares our outputs with the owner's, row by row: a table of one column, or one per class. Error(input) if
// the table does not fit, Error(model) naming the first row that differs.
void check_predictions(const Model& model, const Frame& rows, const std::string& path);

}  // namespace hifi
