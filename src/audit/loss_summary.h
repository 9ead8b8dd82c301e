// How large single losses are, from predictions that the check of the model has made anyway.
//
// Means and intervals assume that no few losses decide everything; a bound (Hoeffding, Bernstein) exists for
// some losses only. Nothing is clipped: the numbers are stated instead.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loss/loss.h"

namespace hifi {

struct LossQuantiles {
  std::size_t losses = 0;
  double min = 0, q05 = 0, q50 = 0, q95 = 0, q99 = 0, max = 0;
  double top_share = 0;  // of the sum, in the largest 1 % of the losses
};

// REQUIRES: at least one loss
LossQuantiles summarise(std::vector<double> losses);

struct LossSummary {
  std::optional<double> bound;         // largest minus smallest possible loss
  LossQuantiles intact;                // the model's own answers
  std::optional<LossQuantiles> empty;  // the answer to one row against the truth of another

  std::string to_json() const;
};

// `predictions`: of the first rows, checked. `swap`: another row's answer is the loss of the empty coalition.
LossSummary summarise_losses(const Loss& loss, std::span<const double> predictions,
                             std::span<const double> truth, bool swap);

// If few losses of an unbounded loss decide the mean: a sentence that says so, else empty.
std::string heavy_tail(const LossSummary& summary, const std::string& loss);

}  // namespace hifi
