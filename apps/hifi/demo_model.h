// A model whose truth is known: an XGBoost file and a table, both made here.
//
// Columns take -1 and 1 in the data and 0 when replaced by their mean. The model is
//   y = unique + clip(copy_a + copy_b, -1, 1) + xor_1 * xor_2 * xor_3,   copy_b = copy_a in the data,
// and `noise` is not used. Under squared loss with the mean as background every term is worth exactly 1.
#pragma once

#include <string>

namespace hifi::app {

std::string demo_model();  // XGBoost JSON
std::string demo_data();   // CSV, 64 rows, target y

}  // namespace hifi::app
