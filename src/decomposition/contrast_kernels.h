// Sums of squared influences of gains and mixed differences: the inner loop of the standard errors.
//
// Compiled for the baseline and for AVX2, the same operations in the same order: the choice changes no bit.
#pragma once

#include <cstddef>

namespace hifi {

struct SquaresInput {
  const float* influence;  // coalition by coalition, `stride` floats each
  std::size_t stride;      // a multiple of kFloatLanes
  unsigned first_bit;      // contexts have none of these bits; first < second
  unsigned second_bit;
  const float* base;  // `stride` floats taken off every combination
};

struct SquaresKernels {
  // out[k - begin] = sum of (x(C) - x(C+i) - base)^2 for contexts k in [begin, end), i = first_bit.
  void (*gain)(const SquaresInput& input, std::size_t begin, std::size_t end, float* out);
  // The same of x(C+i) + x(C+j) - x(C+ij) - x(C) - base.
  void (*mixed)(const SquaresInput& input, std::size_t begin, std::size_t end, float* out);
};

const SquaresKernels& squares_kernels();
// The baseline alone, for tests.
const SquaresKernels& baseline_squares_kernels();

}  // namespace hifi
