#include "model/xgboost_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hifi/error.h"
#include "model/xgboost_document.h"

namespace hifi::xgboost {

namespace {

constexpr std::array kObjectives = {
    Objective{"reg:squarederror", Task::regression, Link::identity, Transform::identity},
    Objective{"reg:squaredlogerror", Task::regression, Link::identity, Transform::identity},
    Objective{"reg:absoluteerror", Task::regression, Link::identity, Transform::identity},
    Objective{"reg:pseudohubererror", Task::regression, Link::identity, Transform::identity},
    Objective{"reg:quantileerror", Task::regression, Link::identity, Transform::identity},
    Objective{"reg:logistic", Task::regression, Link::logit, Transform::sigmoid},
    Objective{"reg:gamma", Task::regression, Link::log, Transform::exponential},
    Objective{"reg:tweedie", Task::regression, Link::log, Transform::exponential},
    Objective{"count:poisson", Task::regression, Link::log, Transform::exponential},
    Objective{"rank:pairwise", Task::regression, Link::identity, Transform::identity},
    Objective{"rank:ndcg", Task::regression, Link::identity, Transform::identity},
    Objective{"rank:map", Task::regression, Link::identity, Transform::identity},
    Objective{"binary:logistic", Task::classification, Link::logit, Transform::sigmoid},
    // Its base score is a margin, although its labels are classes.
    Objective{"binary:logitraw", Task::classification, Link::identity, Transform::identity},
    Objective{"binary:hinge", Task::classification, Link::identity, Transform::step},
    Objective{"multi:softprob", Task::classification, Link::identity, Transform::softmax},
    // Its owner predicts the class alone. We give the probabilities that it is chosen from: the class is
    // their argmax, and log and Brier loss have something to look at.
    Objective{"multi:softmax", Task::classification, Link::identity, Transform::softmax},
};

// The owner keeps exp() finite, so that a hopeless case gets 3e-39 and never 0.
float sigmoid(float margin) { return 1.0f / (std::exp(std::min(-margin, 88.7f)) + 1.0f); }

// Over elements that are `stride` apart. The owner sums in double and divides by the float.
void softmax_row(const float* margins, std::size_t groups, std::size_t stride, double* out) {
  float largest = margins[0];
  for (std::size_t g = 1; g < groups; ++g) largest = std::max(largest, margins[g * stride]);
  double sum = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const float power = std::exp(margins[g * stride] - largest);
    out[g] = static_cast<double>(power);
    sum += static_cast<double>(power);
  }
  for (std::size_t g = 0; g < groups; ++g) {
    out[g] = static_cast<double>(static_cast<float>(out[g]) / static_cast<float>(sum));
  }
}

float transform_one(Transform transform, float margin) {
  switch (transform) {
    case Transform::sigmoid:
      return sigmoid(margin);
    case Transform::exponential:
      return std::exp(margin);
    case Transform::step:
      return margin > 0 ? 1.0f : 0.0f;
    default:
      return margin;
  }
}

}  // namespace

const Objective& find_objective(const std::string& name, const std::string& where) {
  for (const auto& objective : kObjectives) {
    if (objective.name == name) return objective;
  }
  if (name.starts_with("survival:")) {
    throw input_error(fmt::format("{}: objective {} is not supported", where, shown(name)),
                      "its truth is a censored time, which no loss of ours can score");
  }
  throw input_error(fmt::format("{}: unknown objective \"{}\"", where, shown(name)),
                    "serve the model with process:CMD instead");
}

float base_margin(Link link, float base_score, bool clamp) {
  constexpr float kSmallest = 1e-6f;
  switch (link) {
    case Link::logit:
      if (clamp) base_score = std::clamp(base_score, kSmallest, 1.0f - kSmallest);
      return -std::log(1.0f / base_score - 1.0f);
    case Link::log:
      return std::log(base_score);
    default:
      return base_score;
  }
}

void transform_margins(Transform transform, const float* margins, std::size_t groups, std::size_t stride,
                       std::size_t count, double* out) {
  for (std::size_t r = 0; r < count; ++r) {
    if (transform == Transform::softmax) {
      softmax_row(margins + r, groups, stride, out + r * groups);
    } else {
      out[r] = static_cast<double>(transform_one(transform, margins[r]));
    }
  }
}

}  // namespace hifi::xgboost
