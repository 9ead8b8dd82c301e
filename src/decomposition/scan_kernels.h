// The inner loops of the dense scan, on rows of eight doubles. Compiled twice, for the baseline and
// for AVX2, and chosen at run time. Differences, minima and maxima are exact operations in a fixed
// order, so the choice cannot change a bit of the result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hifi {

inline constexpr std::size_t kLanes = 8;

// Rows are numbered by masks. Row u of those without a bit: a 0 inserted into u at that bit.
constexpr std::size_t insert_zero(std::size_t u, unsigned bit) {
  const std::size_t low = (std::size_t{1} << bit) - 1;
  return (u & ~low) << 1 | (u & low);
}

// Three open intervals (low, high), one around each quantile, and what was found so far.
struct Brackets {
  std::array<double, 3> low, high;
  std::array<std::int64_t, 3> below_low{}, up_to_low{}, up_to_high{};  // how many < low, <= low, <= high
};

struct ScanKernels {
  // For rows u in [first, first + count) of those without the bit: to[u - first] = from[u] - from[u + bit].
  void (*differences)(const double* from, std::size_t first, std::size_t count, unsigned bit, double* to);
  // Extremes of values[u + bit] - values[u] over all rows u without the bit, `count` of them.
  void (*mixed_extremes)(const double* values, std::size_t count, unsigned bit, double* low, double* high);
  // Extremes of rows of plain values.
  void (*extremes)(const double* values, std::size_t count, double* low, double* high);
  // Counts rows of values into the brackets; copies those strictly inside any to `inside` (room for
  // all of them plus one) and returns how many.
  std::size_t (*tally)(const double* values, std::size_t count, Brackets* brackets, double* inside);
};

const ScanKernels& scan_kernels();
// The baseline alone, for tests.
const ScanKernels& baseline_scan_kernels();

}  // namespace hifi
