// What the output of a classifier says about one class: its loss, and its log-odds beside it.
//
// For models whose truth is one class per instance (images): the loss is that of the class being there. Maps
// read the log-odds of the same outputs, because probabilities saturate.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loss/loss.h"

namespace hifi {

// log, brier, zero_one: losses; probability and logit: the value game, gain is the increase.
enum class ClassMeasure { log, brier, zero_one, probability, logit };

// "log", "brier", "zero-one", "prediction" (the probability, or the output itself), "logit".
std::optional<ClassMeasure> parse_class_measure(std::string_view name);

struct Reading {
  double loss = 0;  // minus the value for probability and logit
  double logit = 0;
};

struct ClassReading {
  ClassMeasure measure = ClassMeasure::log;
  Link link = Link::none;
  // Without a link: whether outputs are probabilities. If not they are read as they are.
  bool probabilities = true;
  // One output is p(class 1), or its logit: class 0 is the rest.
  std::size_t target = 0;

  // Throws Error(model) for an output that is not a number, Error(input) for one that is no probability where
  // one is needed.
  Reading operator()(std::span<const double> outputs) const;
  // Of the class, after the link; absent where outputs are no probabilities.
  std::optional<double> probability(std::span<const double> outputs) const;
  std::optional<double> range() const;
  bool needs_probabilities() const {
    return measure != ClassMeasure::probability && measure != ClassMeasure::logit;
  }
};

// The class that the outputs name: the largest, the first of ties; of one output class 1 above one half (or
// above 0, where it is a logit).
std::size_t named_class(std::span<const double> outputs, Link link, bool probabilities);

}  // namespace hifi
