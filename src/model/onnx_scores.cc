#include "model/onnx_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hifi/error.h"
#include "model/onnx_document.h"

namespace hifi::onnx {

namespace {

float logistic(float value) {
  const float v = 1.0F / (1.0F + std::exp(-std::fabs(value)));
  return value < 0 ? 1.0F - v : v;
}

// onnxruntime's approximation of the inverse of the normal distribution (Winitzki), in its order of
// operations: near 0 and 1 little else is left of the digits.
float probit(float value) {
  const float x = 2 * value - 1;
  const float sign = x < 0 ? -1.0F : 1.0F;
  const float log = std::log((1 - x) * (1 + x));
  const float v = 2 / (3.14159F * 0.147F) + 0.5F * log;
  const float root = std::sqrt(v * v - 1 / 0.147F * log);
  return 1.41421356F * (sign * std::sqrt(-v + root));
}

double single(double value) { return static_cast<double>(static_cast<float>(value)); }

template <class Function>
void apply(std::span<double> scores, Function function) {
  for (double& score : scores) score = static_cast<double>(function(static_cast<float>(score)));
}

void softmax(std::span<double> scores, bool skip_zeros) {
  const auto largest = static_cast<float>(*std::max_element(scores.begin(), scores.end()));
  float sum = 0;
  for (double& score : scores) {
    const auto value = static_cast<float>(score);
    if (skip_zeros && std::fabs(value) <= 1e-7F) {
      score = static_cast<double>(value * std::exp(-largest));
      continue;
    }
    const float power = std::exp(value - largest);
    score = static_cast<double>(power);
    sum += power;
  }
  apply(scores, [&](float power) { return power / sum; });
}

void transform_all(PostTransform transform, std::span<double> scores) {
  switch (transform) {
    case PostTransform::none:
      break;
    case PostTransform::logistic:
      apply(scores, logistic);
      break;
    case PostTransform::softmax:
      softmax(scores, false);
      break;
    case PostTransform::softmax_zero:
      softmax(scores, true);
      break;
    case PostTransform::probit:
      apply(scores, probit);
      break;
  }
}

// Two classes from the score of one.
void add_second_class(const ScoreRule& rule, double score, std::span<double> scores) {
  const auto value = static_cast<float>(score);
  scores[1] = score;
  if (rule.transform == PostTransform::probit) {
    scores[0] = static_cast<double>(probit(value));
  } else if (rule.transform == PostTransform::logistic) {
    scores[0] = static_cast<double>(logistic(-value));
    scores[1] = static_cast<double>(logistic(value));
  } else {
    scores[0] = rule.all_positive ? static_cast<double>(1.0F - value) : -score;
  }
}

// The specification does not say what base values mean here: this is what onnxruntime makes of them, even
// where it looks odd (two of them and leaves of both classes). A class without leaves has score 0.
void finish_two_classes(const ScoreRule& rule, std::span<double> sums, std::span<double> scores) {
  const std::vector<double>& base = rule.base;
  scores[0] = sums[0];
  scores[1] = sums[1];
  if (base.size() == 2 && rule.scores_second) {
    scores[1] = single(sums[0] + base[1]);
    scores[0] = -scores[1];
  } else if (!base.empty()) {
    scores[0] = single(sums[0] + base[0]);
  }
  if (!rule.scores_first) scores[0] = 0;
  if (!rule.scores_second && base.size() < 2) {
    add_second_class(rule, scores[0], scores);
  } else {
    transform_all(rule.transform, scores);
  }
}

}  // namespace

bool ScoreRule::linear() const { return !classifier && sums == 1 && transform != PostTransform::probit; }

PostTransform parse_post_transform(const std::string& name, const std::string& where) {
  constexpr std::string_view kNames[] = {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"};
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) {
    throw input_error(fmt::format("{}: post_transform \"{}\" is unknown", where, shown(name)));
  }
  return static_cast<PostTransform>(found - std::begin(kNames));
}

void finish_scores(const ScoreRule& rule, std::span<double> sums, std::span<double> scores) {
  const auto rounded = [&](double value) { return rule.double_precision ? value : single(value); };
  if (rule.averaged != 0) {
    for (double& sum : sums) sum = rounded(sum / static_cast<double>(rule.averaged));
  }
  if (rule.classifier && rule.sums == 2) {
    finish_two_classes(rule, sums, scores);
    return;
  }
  const bool has_base = rule.base.size() == rule.sums;
  for (std::size_t k = 0; k < rule.sums; ++k) {
    scores[k] = has_base ? rounded(sums[k] + rule.base[k]) : sums[k];
  }
  // A single target is given out as it is, whatever the transform says, but for PROBIT.
  if (rule.sums > 1 || rule.transform == PostTransform::probit) transform_all(rule.transform, scores);
}

}  // namespace hifi::onnx
