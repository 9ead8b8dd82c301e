// The category names that XGBoost 3.1 and later store in the model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/xgboost_document.h"

namespace hifi::xgboost {

// One list per column in the order of the codes, an empty one for a column without names; empty if no
// column has any. Integer categories are written in decimal. A column with a name beyond ASCII counts as
// one without names: XGBoost 3.2 damages such lists.
std::vector<std::vector<std::string>> read_categories(const Value& model, std::size_t width,
                                                      const std::string& where);

}  // namespace hifi::xgboost
