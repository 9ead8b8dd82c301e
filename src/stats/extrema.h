// Inference on a maximum of many linear statistics that are known with noise.
//
// The plug-in maximum is biased up and its bootstrap does not cover. We use intersection bounds
// (Chernozhukov, Lee, Rosen 2013, doi 10.3982/ECTA8718): near-maximisers are selected first; the lower end is
// simultaneous over them, the upper end pointwise, because the true maximiser is one fixed statistic.
//
// A statistic is its value and its influence: one number per block, scaled so that the sum of squares is the
// squared standard error. Thread-safe: all functions are const.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stats/multiplier.h"

namespace hifi {

// How noise is described: rows of influence in one or two independent parts (instances, background).
struct BlockRows {
  std::vector<std::size_t> parts;  // blocks of each part; the rows of a part are adjacent

  std::size_t rows() const;
  double degrees_of_freedom() const;  // of the smaller part
};

struct MaxOptions {
  double alpha = 0.05;       // two-sided
  std::size_t draws = 1000;  // of the multiplier process
  // Near-maximisers; beyond, the multiplier quantile fails and blocks are split instead.
  std::size_t simulated = 1000;
  bool independent = false;  // the noise of each statistic is its own: there are no influences
};

// V statistics. What a zero standard error means is the caller's business: `exact` ones are known.
struct Statistics {
  std::span<const double> value;
  std::span<const double> error;  // standard errors
  // The influence of one statistic, rows() numbers; not used if they are independent.
  std::function<void(std::size_t, std::span<double>)> influence;
  // The values of some statistics on the blocks of one parity alone, for callers who know them without going
  // through the influences.
  std::function<void(std::size_t parity, std::span<const std::size_t> which, std::span<double> out)> half;
  bool zero_is_exact = false;      // error 0: known, else nothing is known about its noise
  std::optional<double> constant;  // one more statistic, known exactly
};

struct MaxInference {
  double plugin = 0;
  double corrected = 0;  // plug-in less the bias of taking the maximum
  std::optional<double> low;
  std::optional<double> high;
  std::size_t near = 0;  // near-maximisers
};

class MaxInferrer {
 public:
  // The multipliers depend on the seed alone and serve every call.
  MaxInferrer(BlockRows rows, const MaxOptions& options, std::uint64_t seed);

  // REQUIRES: at least one statistic
  MaxInference infer(const Statistics& statistics) const;
  // Both ends of a single statistic, by Student's t.
  std::optional<double> half_width(double error, bool zero_is_exact) const;

  const BlockRows& rows() const { return rows_; }

 private:
  struct Near;
  struct Simulated;
  Near select(const Statistics& statistics) const;
  Simulated simulate(const Statistics& statistics, const Near& near) const;
  double bonferroni(std::size_t noisy) const;
  double independent_bias(const Near& near) const;
  void split(const Statistics& statistics, const Near& near, MaxInference& result) const;

  BlockRows rows_;
  MaxOptions options_;
  double t_;                                // pointwise, at 1 - alpha / 2
  std::optional<Multipliers> multipliers_;  // absent if the statistics are independent
};

// What the blocks of one parity say: their mean deviation moves the value, part by part. `variance` is that
// of the result.
double half_value(const BlockRows& rows, double value, std::span<const double> influence, std::size_t parity,
                  double* variance);

}  // namespace hifi
