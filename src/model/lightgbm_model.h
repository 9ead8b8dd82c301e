// LightGBM models, read from what booster.save_model("model.txt") writes (text, versions 2 to 4).
//
// Predictions are those of Booster.predict(): doubles, one leaf per tree added in the order of the file, then
// the objective's own conversion. Verified to the bit against the owner (tests/test_lightgbm.py).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/model.h"

namespace hifi {

bool looks_like_lightgbm(std::string_view content);

// `content` is the whole file, `path` is for messages. Throws Error(input).
std::unique_ptr<Model> load_lightgbm(const std::string& path, std::string_view content);

}  // namespace hifi
