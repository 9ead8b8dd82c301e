#include "decomposition/scan_kernels.h"

#include <algorithm>

namespace hifi {

namespace {

#define HIFI_INLINE inline __attribute__((always_inline))

using Vector = double __attribute__((vector_size(32), aligned(8), may_alias));
using Mask = long long __attribute__((vector_size(32), aligned(8), may_alias));
constexpr std::size_t kVectorLanes = 4;
constexpr std::size_t kTallyValues = 1024;

HIFI_INLINE const Vector& at(const double* from) { return *reinterpret_cast<const Vector*>(from); }

HIFI_INLINE void differences(const double* from, std::size_t first, std::size_t count, unsigned bit,
                             double* to) {
  const std::size_t step = kLanes << bit;
  for (std::size_t u = first; u < first + count; ++u, to += kLanes) {
    const double* row = from + kLanes * insert_zero(u, bit);
    for (std::size_t k = 0; k < kLanes; k += kVectorLanes) {
      *reinterpret_cast<Vector*>(to + k) = at(row + k) - at(row + step + k);
    }
  }
}

// Two pairs of accumulators: a minimum must not wait for the one before.
struct Running {
  Vector low[2], high[2];

  HIFI_INLINE explicit Running(double start) {
    for (std::size_t k = 0; k < 2; ++k) low[k] = high[k] = Vector{start, start, start, start};
  }
  HIFI_INLINE void add(std::size_t k, const Vector& value) {
    low[k] = value < low[k] ? value : low[k];
    high[k] = value > high[k] ? value : high[k];
  }
  HIFI_INLINE void finish(double* lowest, double* highest) const {
    *lowest = low[0][0];
    *highest = high[0][0];
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
        *lowest = std::min(*lowest, low[k][lane]);
        *highest = std::max(*highest, high[k][lane]);
      }
    }
  }
};

HIFI_INLINE void mixed_extremes(const double* values, std::size_t count, unsigned bit, double* low,
                                double* high) {
  const std::size_t step = kLanes << bit;
  Running running(values[step] - values[0]);
  for (std::size_t u = 0; u < count; ++u) {
    const double* row = values + kLanes * insert_zero(u, bit);
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t lane = k * kVectorLanes;
      running.add(k, at(row + step + lane) - at(row + lane));
    }
  }
  running.finish(low, high);
}

HIFI_INLINE void extremes(const double* values, std::size_t count, double* low, double* high) {
  Running running(values[0]);
  for (std::size_t u = 0; u < count; ++u, values += kLanes) {
    for (std::size_t k = 0; k < 2; ++k) running.add(k, at(values + k * kVectorLanes));
  }
  running.finish(low, high);
}

// -1 in `flags` for every value inside a bracket; the counts are kept as sums of such masks.
HIFI_INLINE void flag(const double* values, std::size_t count, Brackets* brackets, long long* flags) {
  Mask below_low[3] = {}, up_to_low[3] = {}, up_to_high[3] = {};
  Vector low[3], high[3];
  for (std::size_t q = 0; q < 3; ++q) {
    const double l = brackets->low[q], h = brackets->high[q];
    low[q] = Vector{l, l, l, l};
    high[q] = Vector{h, h, h, h};
  }
  for (std::size_t k = 0; k < count; k += kVectorLanes) {
    const Vector& value = at(values + k);
    Mask inside = {};
#pragma GCC unroll 3  // keeps the nine counters in registers
    for (std::size_t q = 0; q < 3; ++q) {
      const Mask not_above_low = value <= low[q];
      below_low[q] += value < low[q];
      up_to_low[q] += not_above_low;
      up_to_high[q] += value <= high[q];
      inside |= ~not_above_low & (value < high[q]);
    }
    *reinterpret_cast<Mask*>(flags + k) = inside;
  }
  for (std::size_t q = 0; q < 3; ++q) {
    for (std::size_t lane = 0; lane < kVectorLanes; ++lane) {
      brackets->below_low[q] -= below_low[q][lane];
      brackets->up_to_low[q] -= up_to_low[q][lane];
      brackets->up_to_high[q] -= up_to_high[q][lane];
    }
  }
}

HIFI_INLINE std::size_t tally(const double* values, std::size_t count, Brackets* brackets, double* inside) {
  alignas(64) long long flags[kTallyValues];
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < count * kLanes; begin += kTallyValues) {
    const std::size_t size = std::min(kTallyValues, count * kLanes - begin);
    flag(values + begin, size, brackets, flags);
    for (std::size_t k = 0; k < size; ++k) {  // no branch: always written, kept if flagged
      inside[found] = values[begin + k];
      found += static_cast<std::size_t>(-flags[k]);
    }
  }
  return found;
}

// One set of entry points; the loops above are inlined into each and compiled for its target.
#define HIFI_KERNELS(name, target)                                                                          \
  struct name {                                                                                             \
    target static void differences_(const double* from, std::size_t first, std::size_t count, unsigned bit, \
                                    double* to) {                                                           \
      differences(from, first, count, bit, to);                                                             \
    }                                                                                                       \
    target static void mixed_(const double* values, std::size_t count, unsigned bit, double* low,           \
                              double* high) {                                                               \
      mixed_extremes(values, count, bit, low, high);                                                        \
    }                                                                                                       \
    target static void extremes_(const double* values, std::size_t count, double* low, double* high) {      \
      extremes(values, count, low, high);                                                                   \
    }                                                                                                       \
    target static std::size_t tally_(const double* values, std::size_t count, Brackets* brackets,           \
                                     double* inside) {                                                      \
      return tally(values, count, brackets, inside);                                                        \
    }                                                                                                       \
    static constexpr ScanKernels kernels{differences_, mixed_, extremes_, tally_};                          \
  }

HIFI_KERNELS(Baseline, );
#if defined(__x86_64__)
HIFI_KERNELS(Avx2, __attribute__((target("avx2"))));
#endif

}  // namespace

const ScanKernels& baseline_scan_kernels() { return Baseline::kernels; }

const ScanKernels& scan_kernels() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) return Avx2::kernels;
#endif
  return Baseline::kernels;
}

}  // namespace hifi
