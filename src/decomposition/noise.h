// The noise of a lattice: for every coalition its influence, one number per block.
//
// Influences are linear: those of a gain or a mixed difference are the same combination of those of its
// corners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stats/extrema.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_plan.h"

namespace hifi {

struct Noise {
  enum class Kind {
    absent,  // nothing can be said
    none,    // there is none: every pair of rows was used
    blocks,
    cells,  // every coalition has noise of its own, with a known variance
  };
  Kind kind = Kind::absent;
  BlockRows rows;
  // Coalition by coalition rows.rows() numbers, filled up with zeros to `stride`; times `unit` their squares
  // add up to the squared error.
  std::vector<float> influence;
  std::size_t stride = 0;
  double unit = 1;               // a power of two: floats hold losses of any size
  std::vector<double> variance;  // kind cells: of each mean
  double units = 0;              // independent observations, for the rule of three
  double scale = 0;              // the largest standard error of a loss; far below it lies rounding

  const float* of(std::size_t mask) const { return influence.data() + mask * stride; }
};

// Of drawing other rows from the population: the instance part of a block plus its background part.
Noise population_noise(const Lattice& lattice, const std::vector<double>& means, const RunPlan& plan);

// Of having used some pairs of the given rows, not all.
Noise montecarlo_noise(const Lattice& lattice, const std::vector<double>& means, const RunPlan& plan);

// Of a table with columns k and var, complete, in the order of the masks.
Noise cell_noise(std::vector<double> draws, const std::vector<double>& variances);

}  // namespace hifi
