#include "loss/class_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hifi/error.h"

namespace hifi {

namespace {

constexpr double kClip = 1e-15;

double clipped(double p) { return std::clamp(p, kClip, 1 - kClip); }
double sigmoid(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

// log sum exp of all outputs, or of all but one.
double log_sum_exp(std::span<const double> z, std::size_t but = SIZE_MAX) {
  double largest = -HUGE_VAL;
  for (std::size_t k = 0; k < z.size(); ++k) {
    if (k != but) largest = std::max(largest, z[k]);
  }
  double sum = 0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    if (k != but) sum += std::exp(z[k] - largest);
  }
  return largest + std::log(sum);
}

bool is_share(std::span<const double> p) {
  double sum = 0;
  for (const double x : p) sum += x;
  return std::abs(sum - 1) < 1e-3;
}

}  // namespace

std::optional<ClassMeasure> parse_class_measure(std::string_view name) {
  if (name == "log") return ClassMeasure::log;
  if (name == "brier") return ClassMeasure::brier;
  if (name == "zero-one") return ClassMeasure::zero_one;
  if (name == "prediction") return ClassMeasure::probability;
  if (name == "logit") return ClassMeasure::logit;
  return std::nullopt;
}

std::optional<double> ClassReading::probability(std::span<const double> outputs) const {
  const bool one = outputs.size() == 1;
  const double own = outputs[one ? 0 : target];
  const bool rest = one && target == 0;
  if (link == Link::softmax) return std::exp(own - log_sum_exp(outputs));
  if (link == Link::none && !probabilities) return std::nullopt;
  const double p = link == Link::sigmoid ? sigmoid(rest ? -own : own) : rest ? 1 - own : own;
  return p;
}

Reading ClassReading::operator()(std::span<const double> outputs) const {
  for (const double x : outputs) {
    if (!std::isfinite(x)) throw model_error(fmt::format("the model answered {}, which is no number", x));
  }
  const bool one = outputs.size() == 1;
  const double own = outputs[one ? 0 : target];
  if (link == Link::none && !probabilities) {
    if (needs_probabilities()) {
      throw input_error(fmt::format("the model answered {:g}, which is no probability", own),
                        "say with --link softmax or --link sigmoid how outputs become probabilities");
    }
    const double value = one && target == 0 ? -own : own;
    return {.loss = -value, .logit = value};
  }
  if (link == Link::none && (own < -1e-6 || own > 1 + 1e-6)) {
    throw input_error(fmt::format("the model answered {:g}, which is no probability, though others are", own),
                      "say with --link softmax or --link sigmoid how outputs become probabilities");
  }
  const double p = *probability(outputs);
  Reading reading;
  if (link == Link::softmax) {
    reading.logit = outputs.size() == 1 ? 0 : own - log_sum_exp(outputs, target);
  } else if (link == Link::sigmoid) {
    reading.logit = one && target == 0 ? -own : own;
  } else {
    reading.logit = std::log(clipped(p)) - std::log(1 - clipped(p));
  }
  // Several outputs are classes that exclude each other if they share out 1; else each is a question of its
  // own.
  const bool exclusive = link == Link::softmax || (link == Link::none && !one && is_share(outputs));
  switch (measure) {
    case ClassMeasure::log:
      reading.loss = -std::log(clipped(p));
      break;
    case ClassMeasure::probability:
      reading.loss = -p;
      break;
    case ClassMeasure::logit:
      reading.loss = -reading.logit;
      break;
    case ClassMeasure::zero_one: {
      const bool right = exclusive            ? named_class(outputs, link, probabilities) == target
                         : target == 0 && one ? p >= .5
                                              : p > .5;
      reading.loss = right ? 0 : 1;
      break;
    }
    case ClassMeasure::brier: {
      reading.loss = (1 - p) * (1 - p);
      if (!exclusive || outputs.size() < 3) break;
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (k == target) continue;
        const double q = *ClassReading{measure, link, probabilities, k}.probability(outputs);
        reading.loss += q * q;
      }
      break;
    }
  }
  return reading;
}

std::optional<double> ClassReading::range() const {
  const bool bounded = measure == ClassMeasure::zero_one ||
                       (measure == ClassMeasure::probability && (probabilities || link != Link::none));
  if (measure == ClassMeasure::brier) return 2;
  return bounded ? std::optional(1.0) : std::nullopt;
}

std::size_t named_class(std::span<const double> outputs, Link link, bool probabilities) {
  if (outputs.size() == 1) return outputs[0] > (link == Link::none && probabilities ? .5 : 0) ? 1 : 0;
  return static_cast<std::size_t>(std::max_element(outputs.begin(), outputs.end()) - outputs.begin());
}

}  // namespace hifi
