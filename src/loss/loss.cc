#include "loss/loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::string_view kNames[] = {"squared", "absolute", "log", "brier", "zero-one", "prediction"};
constexpr double kProbabilityFloor = 1e-15;
// float32 backends may leave [0, 1] by rounding; log clips, the others do not care.
constexpr double kProbabilitySlack = 1e-6;

double clip(double p) { return std::clamp(p, kProbabilityFloor, 1 - kProbabilityFloor); }

std::size_t classes_of(std::size_t outputs) { return std::max<std::size_t>(outputs, 2); }

// The labels that a value of the truth may go by.
std::vector<std::string> label_texts(const Column& column, double value) {
  if (column.type == ColumnType::text) return {column.dictionary[static_cast<std::size_t>(value)]};
  if (column.type == ColumnType::number) return {fmt::format("{}", value)};
  if (value == 0) return {"false", "False", "FALSE", "0"};
  return {"true", "True", "TRUE", "1"};
}

// Sums of squared losses of a billion draws must stay finite, else a run has no errors and cannot be resumed.
double largest(LossKind kind) { return kind == LossKind::squared ? 1e70 : 1e140; }

}  // namespace

std::optional<LossKind> parse_loss(std::string_view name) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<LossKind>(found - std::begin(kNames));
}

std::string_view loss_name(LossKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

bool is_classification(LossKind kind) {
  return kind == LossKind::log || kind == LossKind::brier || kind == LossKind::zero_one;
}

Loss::Loss(const LossOptions& options, const ModelInfo& model)
    : kind_(options.kind.value_or(model.task == Task::classification ? LossKind::log : LossKind::squared)),
      link_(options.link),
      outputs_(model.outputs),
      labels_(options.classes.empty() ? model.labels : options.classes) {
  if (link_ == Link::softmax && outputs_ < 2) {
    throw input_error(fmt::format("{}: --link softmax needs several outputs, the model has one", model.path),
                      "use --link sigmoid");
  }
  if (is_classification(kind_) && model.task == Task::regression) {
    throw input_error(fmt::format("{}: {} loss needs a classifier, the model declares the objective {}",
                                  model.path, loss_name(kind_), model.objective),
                      "use --loss squared or absolute");
  }
  if ((kind_ == LossKind::squared || kind_ == LossKind::absolute) && outputs_ > 1) {
    throw input_error(
        fmt::format("{}: {} loss needs one output, the model has {}", model.path, loss_name(kind_), outputs_),
        "use --loss log, brier or zero-one");
  }
  if (!options.classes.empty() && options.classes.size() != classes_of(outputs_)) {
    throw input_error(fmt::format("--classes names {} classes, the model has {}", options.classes.size(),
                                  classes_of(outputs_)));
  }
  if (kind_ != LossKind::prediction) return;
  const bool classifier = model.task == Task::classification || outputs_ > 1;
  if (!options.target_class.empty() && !classifier) {
    throw input_error(fmt::format("{}: --class needs a classifier", model.path));
  }
  if (options.target_class.empty() && outputs_ > 2) {
    throw input_error(fmt::format("{}: the model has {} classes", model.path, outputs_),
                      "choose one with --class K");
  }
  if (!classifier) return;
  probabilities_ = link_ != Link::none || model.objective != "binary:logitraw";
  const std::size_t wanted = options.target_class.empty() ? 1 : class_number(options.target_class);
  target_class_ = outputs_ == 1 ? 0 : wanted;
  complement_ = outputs_ == 1 && wanted == 0;
}

std::optional<double> Loss::range() const {
  if (kind_ == LossKind::zero_one || (kind_ == LossKind::prediction && probabilities_)) return 1.0;
  if (kind_ == LossKind::brier) return outputs_ <= 2 ? 1.0 : 2.0;
  return std::nullopt;
}

std::size_t Loss::class_number(const std::string& text) const {
  const auto label = std::find(labels_.begin(), labels_.end(), text);
  if (label != labels_.end()) return static_cast<std::size_t>(label - labels_.begin());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= classes_of(outputs_)) {
    throw input_error(
        fmt::format("--class {}: the model has classes 0 to {}", text, classes_of(outputs_) - 1));
  }
  return number;
}

std::vector<double> Loss::read_truth(const Table& data, const std::string& target) const {
  if (kind_ == LossKind::prediction) return std::vector<double>(data.rows, 0.0);
  const bool classes = is_classification(kind_);
  const bool by_label = classes && !labels_.empty();
  const Column& column = by_label || classes ? data.require(target) : data.require_number(target);
  const auto place = [&](std::size_t row) {
    return fmt::format("{}: column \"{}\", {}", data.source, target, data.row_name(row));
  };
  if (classes && column.type == ColumnType::text && !by_label) {
    auto shown = column.dictionary;
    std::sort(shown.begin(), shown.end());
    if (shown.size() > 10) shown.resize(10);
    throw input_error(
        fmt::format("{}: column \"{}\" holds text and the model carries no labels; its values are {}",
                    data.source, target, fmt::join(shown, ", ")),
        fmt::format("give the classes in order, first = 0: --classes {}", fmt::join(shown, ",")));
  }
  std::vector<double> truth(data.rows);
  for (std::size_t row = 0; row < data.rows; ++row) {
    const double value = column.values[row];
    if (std::isnan(value)) throw input_error(fmt::format("{}: the truth is missing", place(row)));
    truth[row] = value;
    if (by_label) {
      const std::vector<std::string> texts = label_texts(column, value);
      const auto label = std::find_first_of(labels_.begin(), labels_.end(), texts.begin(), texts.end());
      if (label == labels_.end()) {
        throw input_error(fmt::format("{}: \"{}\" is none of the classes {}", place(row), texts.front(),
                                      fmt::join(labels_, ", ")));
      }
      truth[row] = static_cast<double>(label - labels_.begin());
    } else if (classes && !(value >= 0 && value < static_cast<double>(classes_of(outputs_)) &&
                            value == std::floor(value))) {
      throw input_error(fmt::format("{}: {} is no class of the model, which has classes 0 to {}", place(row),
                                    value, classes_of(outputs_) - 1),
                        "map other labels with --classes first,second,..");
    } else if (std::isinf(value)) {
      throw input_error(fmt::format("{}: the truth is infinite", place(row)));
    } else if (std::abs(value) > largest(kind_)) {
      throw input_error(
          fmt::format("{}: {} losses of a truth of {} cannot be summed", place(row), loss_name(kind_), value),
          "give model and truth another unit");
    }
  }
  return truth;
}

void Loss::check(std::span<double> predictions) const {
  const double most = link_ == Link::none ? largest(kind_) : std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (std::isfinite(predictions[i]) && std::abs(predictions[i]) > most) {
      throw model_error(
          fmt::format("the model answered {} for row {} of a batch: {} losses of outputs beyond {:g} cannot "
                      "be summed",
                      predictions[i], i / outputs_ + 1, loss_name(kind_), most),
          "give model and truth another unit");
    }
    if (!std::isfinite(predictions[i])) {
      throw model_error(
          fmt::format("the model answered {} for row {} of a batch", predictions[i], i / outputs_ + 1));
    }
  }
  if (link_ == Link::sigmoid) {
    for (double& p : predictions) p = 1 / (1 + std::exp(-p));
  } else if (link_ == Link::softmax) {
    for (std::size_t row = 0; row < predictions.size(); row += outputs_) {
      const auto one = predictions.subspan(row, outputs_);
      const double largest = *std::max_element(one.begin(), one.end());
      double sum = 0;
      for (double& p : one) sum += p = std::exp(p - largest);
      for (double& p : one) p /= sum;
    }
  } else if (is_classification(kind_)) {
    for (const double p : predictions) {
      if (p < -kProbabilitySlack || p > 1 + kProbabilitySlack) {
        throw input_error(fmt::format("the model answered {}, which is no probability; {} loss needs one", p,
                                      loss_name(kind_)),
                          "use --link sigmoid or softmax if the outputs are logits");
      }
    }
  }
}

template <class F>
void Loss::apply(std::span<const double> predictions, std::span<const std::uint32_t> row,
                 std::span<double> out, F loss) const {
  for (std::size_t e = 0; e < out.size(); ++e) out[e] = loss(predictions.data() + row[e] * outputs_);
}

void Loss::evaluate(std::span<const double> predictions, std::span<const std::uint32_t> row, double truth,
                    std::span<double> out) const {
  const auto y = is_classification(kind_) ? static_cast<std::size_t>(truth) : 0;
  const auto run = [&](auto loss) { apply(predictions, row, out, loss); };
  const std::size_t k = outputs_;
  switch (kind_) {
    case LossKind::squared:
      return run([truth](const double* p) { return (p[0] - truth) * (p[0] - truth); });
    case LossKind::absolute:
      return run([truth](const double* p) { return std::abs(p[0] - truth); });
    case LossKind::log:
      if (k == 1)
        return run([y](const double* p) { return -std::log(y == 1 ? clip(p[0]) : clip(1 - p[0])); });
      return run([y](const double* p) { return -std::log(clip(p[y])); });
    case LossKind::brier:
      // Two classes: (p(class 1) - y)^2; more: the sum over classes.
      if (k <= 2) {
        return run([truth, k](const double* p) { return (p[k - 1] - truth) * (p[k - 1] - truth); });
      }
      return run([y, k](const double* p) {
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) sum += (p[c] - (c == y ? 1 : 0)) * (p[c] - (c == y ? 1 : 0));
        return sum;
      });
    case LossKind::zero_one:
      if (k == 1) return run([y](const double* p) { return (p[0] > 0.5) == (y == 1) ? 0.0 : 1.0; });
      return run([y, k](const double* p) {
        return static_cast<std::size_t>(std::max_element(p, p + k) - p) == y ? 0.0
                                                                             : 1.0;  // ties: lowest index
      });
    case LossKind::prediction:
      if (complement_) return run([](const double* p) { return p[0] - 1; });
      return run([c = target_class_](const double* p) { return -p[c]; });
  }
}

}  // namespace hifi
