// XGBoost models, read from what booster.save_model() writes (JSON or UBJSON, versions 1.7 to 3.x).
//
// Predictions are those of Booster.predict(DMatrix): all trees count, whatever `best_iteration` says
// (the scikit-learn wrapper stops there, the booster does not). A missing value takes the default
// direction; categories are their codes, and a code that training did not see goes left.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/model.h"

namespace hifi {

// By content, looking at its beginning only. True also for XGBoost files that load_xgboost() refuses by
// name: the old binary format and text dumps.
bool looks_like_xgboost(std::string_view content);

// `content` is the whole file, `path` is for messages. Throws Error(input).
std::unique_ptr<Model> load_xgboost(const std::string& path, std::string_view content);

}  // namespace hifi
