#include "decomposition/contrast_kernels.h"

#include "decomposition/scan_kernels.h"
#include "stats/multiplier.h"

namespace hifi {

namespace {

#define HIFI_INLINE inline __attribute__((always_inline))

using Vector = float __attribute__((vector_size(4 * kFloatLanes), aligned(4), may_alias));

HIFI_INLINE const Vector& at(const float* from) { return *reinterpret_cast<const Vector*>(from); }

HIFI_INLINE float sum(const Vector& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

HIFI_INLINE void gains(const SquaresInput& in, std::size_t begin, std::size_t end, float* out) {
  const std::size_t with = in.stride << in.first_bit;
  for (std::size_t k = begin; k < end; ++k) {
    const float* x = in.influence + in.stride * insert_zero(k, in.first_bit);
    Vector squares = {};
    for (std::size_t g = 0; g < in.stride; g += kFloatLanes) {
      const Vector d = (at(x + g) - at(x + with + g)) - at(in.base + g);
      squares += d * d;
    }
    out[k - begin] = sum(squares);
  }
}

HIFI_INLINE void mixed(const SquaresInput& in, std::size_t begin, std::size_t end, float* out) {
  const std::size_t i = in.stride << in.first_bit;
  const std::size_t j = in.stride << in.second_bit;
  for (std::size_t k = begin; k < end; ++k) {
    const float* x = in.influence + in.stride * insert_zero(insert_zero(k, in.first_bit), in.second_bit);
    Vector squares = {};
    for (std::size_t g = 0; g < in.stride; g += kFloatLanes) {
      const Vector d = ((at(x + i + g) - at(x + g)) - (at(x + i + j + g) - at(x + j + g))) - at(in.base + g);
      squares += d * d;
    }
    out[k - begin] = sum(squares);
  }
}

#define HIFI_KERNELS(name, target)                                                                      \
  struct name {                                                                                         \
    target static void gains_(const SquaresInput& in, std::size_t begin, std::size_t end, float* out) { \
      gains(in, begin, end, out);                                                                       \
    }                                                                                                   \
    target static void mixed_(const SquaresInput& in, std::size_t begin, std::size_t end, float* out) { \
      mixed(in, begin, end, out);                                                                       \
    }                                                                                                   \
    static constexpr SquaresKernels kernels{gains_, mixed_};                                            \
  }

HIFI_KERNELS(Baseline, );
#if defined(__x86_64__)
HIFI_KERNELS(Avx2, __attribute__((target("avx2"))));
#endif

}  // namespace

const SquaresKernels& baseline_squares_kernels() { return Baseline::kernels; }

const SquaresKernels& squares_kernels() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) return Avx2::kernels;
#endif
  return Baseline::kernels;
}

}  // namespace hifi
