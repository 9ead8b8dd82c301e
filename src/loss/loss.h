// (prediction, truth) -> loss.
//
// A model with one output under a classification loss gives p(class 1); with k outputs it gives one
// probability per class. `prediction` is the value game: its loss is minus the output, so that a gain
// is an increase of the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/table.h"
#include "model/model.h"

namespace hifi {

enum class LossKind { squared, absolute, log, brier, zero_one, prediction };
enum class Link { none, sigmoid, softmax };

std::optional<LossKind> parse_loss(std::string_view name);
std::string_view loss_name(LossKind kind);
bool is_classification(LossKind kind);

struct LossOptions {
  std::optional<LossKind> kind;  // absent: squared for regressors, log for classifiers
  Link link = Link::none;
  std::string target_class;          // --class: number or label; empty: the default
  std::vector<std::string> classes;  // --classes: text labels in class order
};

class Loss {
 public:
  // Throws Error(input) if the loss does not fit the model.
  Loss(const LossOptions& options, const ModelInfo& model);

  LossKind kind() const { return kind_; }
  Link link() const { return link_; }
  std::size_t outputs() const { return outputs_; }
  // Largest minus smallest loss that can occur; absent if unbounded. Log loss counts as unbounded: its bound
  // is where we clip it.
  std::optional<double> range() const;

  // The truth column as numbers that operator() takes. Throws Error(input) naming the row of a missing
  // value, a class out of range or an unknown label.
  std::vector<double> read_truth(const Table& data, const std::string& target) const;

  // Applies the link in place and checks the numbers: NaN is Error(model), a number that is no
  // probability where one is needed is Error(input).
  void check(std::span<double> predictions) const;

  // out[e] = loss(predictions of row[e], truth[e]); the inner loop of a run.
  void evaluate(std::span<const double> predictions, std::span<const std::uint32_t> row, double truth,
                std::span<double> out) const;

 private:
  std::size_t class_number(const std::string& text) const;
  template <class F>
  void apply(std::span<const double> predictions, std::span<const std::uint32_t> row, std::span<double> out,
             F loss) const;

  LossKind kind_;
  Link link_;
  std::size_t outputs_;
  std::size_t target_class_ = 0;
  bool probabilities_ = false;
  bool complement_ = false;  // class 0 of a model that outputs p(class 1)
  std::vector<std::string> labels_;
};

}  // namespace hifi
