// Intervals and corrected values for every number of a profile.
//
// Every number is a maximum over contexts of something linear in the vocabulary, so one routine serves all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/parallel.h"
#include "decomposition/noise.h"
#include "decomposition/scan.h"

namespace hifi {

struct InferenceOptions {
  double alpha = 0.05;
  bool population = true;            // which noise the intervals are about
  std::optional<double> loss_range;  // of a bounded loss
  bool zero_one = false;
};

struct InferenceInput {
  std::size_t players = 0;
  std::span<const double> losses;  // the means, by mask
  const Noise& population;
  const Noise& montecarlo;
};

// Fills value, low, high and population of a complete scan, in place. Returns the players that changed no
// loss in any evaluation.
std::vector<std::uint32_t> infer(ScanResult& scan, const InferenceInput& input,
                                 const InferenceOptions& options, Workers& workers);

}  // namespace hifi
