// What each XGBoost objective does to the base score and to the sum of the trees.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/model.h"

namespace hifi::xgboost {

// How the file's base_score, given in the units of the prediction, becomes a margin.
enum class Link { identity, logit, log };
enum class Transform { identity, sigmoid, exponential, step, softmax };

struct Objective {
  std::string_view name;
  Task task;
  Link link;
  Transform transform;
};

// Throws Error(input) that names an objective we do not support.
const Objective& find_objective(const std::string& name, const std::string& where);

// `clamp`: XGBoost 3.2 keeps probabilities 1e-6 away from 0 and 1; older versions refuse 0 and 1.
float base_margin(Link link, float base_score, bool clamp);

// margins: group x stride, of which the first `count` rows are used; out: count x groups.
void transform_margins(Transform transform, const float* margins, std::size_t groups, std::size_t stride,
                       std::size_t count, double* out);

}  // namespace hifi::xgboost
