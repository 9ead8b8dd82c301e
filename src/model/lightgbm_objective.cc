#include "model/lightgbm_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hifi/error.h"

namespace hifi::lightgbm {

namespace {

struct Kind {
  std::string_view name;
  Task task;
  Conversion conversion;
  bool classes = false;
};

constexpr Kind kKinds[] = {
    {"regression", Task::regression, Conversion::identity},
    {"regression_l1", Task::regression, Conversion::identity},
    {"huber", Task::regression, Conversion::identity},
    {"fair", Task::regression, Conversion::identity},
    {"quantile", Task::regression, Conversion::identity},
    {"mape", Task::regression, Conversion::identity},
    {"poisson", Task::regression, Conversion::exponential},
    {"gamma", Task::regression, Conversion::exponential},
    {"tweedie", Task::regression, Conversion::exponential},
    {"lambdarank", Task::regression, Conversion::identity},
    {"rank_xendcg", Task::regression, Conversion::identity},
    {"binary", Task::classification, Conversion::sigmoid},
    {"multiclass", Task::classification, Conversion::softmax, true},
    {"multiclassova", Task::classification, Conversion::sigmoid, true},
    // Its labels may lie between 0 and 1: a regression or a classification.
    {"cross_entropy", Task::unknown, Conversion::sigmoid},
    {"cross_entropy_lambda", Task::regression, Conversion::log1p_exp},
    // The owner itself then predicts raw scores.
    {"custom", Task::unknown, Conversion::identity},
};

}  // namespace

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

Objective find_objective(const Section& header) {
  constexpr std::string_view kSigmoid = "sigmoid:";
  const std::string_view text = header.has("objective") ? header.text("objective") : "custom";
  const std::vector<std::string_view> parts = split(text, ' ');
  const std::string_view name = parts.empty() ? "" : parts.front();
  const auto* kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == std::end(kKinds)) {
    throw input_error(fmt::format("{}: unknown objective \"{}\"", header.where(), shown(name)),
                      "serve the model with process:CMD instead");
  }
  Objective objective{.name = std::string(kind->name),
                      .task = kind->task,
                      .conversion = kind->conversion,
                      .classes = kind->classes};
  for (std::string_view part : parts) {
    if (part == "sqrt" && objective.conversion == Conversion::identity) {
      objective.conversion = Conversion::signed_square;
    }
    if (!part.starts_with(kSigmoid)) continue;
    part.remove_prefix(kSigmoid.size());
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), objective.sigmoid);
    if (code != std::errc{} || !(objective.sigmoid > 0) || !std::isfinite(objective.sigmoid)) {
      throw input_error(fmt::format("{}: sigmoid \"{}\" is no positive number", header.where(), shown(part)));
    }
  }
  return objective;
}

void check_outputs(const Objective& objective, std::size_t outputs, const Section& header) {
  const bool custom = objective.name == "custom";
  if (custom || (objective.classes ? outputs > 1 : outputs == 1)) return;
  throw input_error(fmt::format("{}: {} with {} outputs", header.where(), objective.name, outputs));
}

void convert_row(const Objective& objective, std::span<double> row) {
  switch (objective.conversion) {
    case Conversion::identity:
      return;
    case Conversion::signed_square:
      for (double& value : row) value = std::copysign(value * value, value);
      return;
    case Conversion::exponential:
      for (double& value : row) value = std::exp(value);
      return;
    case Conversion::sigmoid:
      for (double& value : row) value = 1.0 / (1.0 + std::exp(-objective.sigmoid * value));
      return;
    case Conversion::log1p_exp:
      for (double& value : row) value = std::log1p(std::exp(value));
      return;
    case Conversion::softmax: {
      const double largest = *std::max_element(row.begin(), row.end());
      double sum = 0;
      for (double& value : row) sum += value = std::exp(value - largest);
      for (double& value : row) value /= sum;
      return;
    }
  }
}

}  // namespace hifi::lightgbm
