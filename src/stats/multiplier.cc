#include "stats/multiplier.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/random.h"

namespace hifi {

namespace {

#define HIFI_INLINE inline __attribute__((always_inline))

using Vector = float __attribute__((vector_size(4 * kFloatLanes), aligned(4), may_alias));
constexpr std::size_t kDraws = 2 * kFloatLanes;  // of one step
constexpr std::size_t kStatistics = 4;           // of one step: eight sums stay in registers

HIFI_INLINE const Vector& at(const float* from) { return *reinterpret_cast<const Vector*>(from); }
HIFI_INLINE void raise(Vector& top, const Vector& x) { top = x > top ? x : top; }

struct Step {
  const float* multiplier;  // of the first draw, rows `width` apart
  std::size_t width;
  std::size_t blocks;
  const float* influence;  // of the first statistic, rows `stride` apart
  std::size_t stride;
};

// Adds `kCount` statistics to the largest of kDraws draws.
template <std::size_t kCount>
HIFI_INLINE void add_statistics(const Step& step, const float* factor, const float* shift,
                                const float* other_factor, const float* other_shift, Vector (&top)[2],
                                Vector (&other)[2]) {
  Vector sum[kCount][2] = {};
  for (std::size_t g = 0; g < step.blocks; ++g) {
    const float* row = step.multiplier + g * step.width;
    const Vector left = at(row), right = at(row + kFloatLanes);
    for (std::size_t c = 0; c < kCount; ++c) {
      const float x = step.influence[c * step.stride + g];
      sum[c][0] += x * left;
      sum[c][1] += x * right;
    }
  }
  for (std::size_t c = 0; c < kCount; ++c) {
    for (std::size_t h = 0; h < 2; ++h) {
      raise(top[h], sum[c][h] * factor[c] + shift[c]);
      raise(other[h], sum[c][h] * other_factor[c] + other_shift[c]);
    }
  }
}

HIFI_INLINE void run(Step step, std::size_t draws, std::size_t count, const Weighing& first,
                     const Weighing& second, float* of_first, float* of_second) {
  const float* const influence = step.influence;
  for (std::size_t d = 0; d < draws; d += kDraws, step.multiplier += kDraws) {
    Vector top[2] = {}, other[2] = {};
    for (std::size_t h = 0; h < 2; ++h) {
      top[h] -= HUGE_VALF;
      other[h] -= HUGE_VALF;
    }
    const auto add = [&](std::size_t c, auto size) __attribute__((always_inline)) {
      step.influence = influence + c * step.stride;
      add_statistics<size.value>(step, &first.factor[c], &first.shift[c], &second.factor[c], &second.shift[c],
                                 top, other);
    };
    std::size_t c = 0;
    for (; c + kStatistics <= count; c += kStatistics)
      add(c, std::integral_constant<std::size_t, kStatistics>{});
    for (; c < count; ++c) add(c, std::integral_constant<std::size_t, 1>{});
    for (std::size_t h = 0; h < 2; ++h) {
      *reinterpret_cast<Vector*>(of_first + d + h * kFloatLanes) = top[h];
      *reinterpret_cast<Vector*>(of_second + d + h * kFloatLanes) = other[h];
    }
  }
}

using Kernel = void (*)(const Step&, std::size_t, std::size_t, const Weighing&, const Weighing&, float*,
                        float*);

void run_baseline(const Step& step, std::size_t draws, std::size_t count, const Weighing& first,
                  const Weighing& second, float* of_first, float* of_second) {
  run(step, draws, count, first, second, of_first, of_second);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void run_avx2(const Step& step, std::size_t draws, std::size_t count,
                                              const Weighing& first, const Weighing& second, float* of_first,
                                              float* of_second) {
  run(step, draws, count, first, second, of_first, of_second);
}
#endif

Kernel kernel(bool baseline) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2 && !baseline) return run_avx2;
#endif
  return run_baseline;
}

}  // namespace

Multipliers::Multipliers(std::size_t draws, std::size_t blocks, double degrees_of_freedom, std::uint64_t seed)
    : draws_(draws), blocks_(blocks), scale_(draws) {
  const std::size_t width = (draws + kDraws - 1) / kDraws * kDraws;
  multiplier_.assign(blocks * width, 0.0F);
  RandomStream normal(seed, Purpose::multipliers);
  for (std::size_t d = 0; d < draws; ++d) {
    for (std::size_t g = 0; g < blocks; ++g) multiplier_[g * width + d] = static_cast<float>(normal.normal());
  }
  RandomStream chi(seed, Purpose::multiplier_scale);
  const auto df = static_cast<std::size_t>(degrees_of_freedom);
  for (double& value : scale_) {
    double sum = 0;
    for (std::size_t k = 0; k < df; ++k) {
      const double z = chi.normal();
      sum += z * z;
    }
    value = std::sqrt(sum / static_cast<double>(df));
  }
}

void Multipliers::largest(std::span<const float> influence, const Weighing& first, const Weighing& second,
                          std::vector<float>& of_first, std::vector<float>& of_second, bool baseline) const {
  const std::size_t stride = padded(blocks_);
  const std::size_t width = multiplier_.size() / blocks_;
  of_first.resize(width);
  of_second.resize(width);
  kernel(baseline)({multiplier_.data(), width, blocks_, influence.data(), stride}, width,
                   influence.size() / stride, first, second, of_first.data(), of_second.data());
  of_first.resize(draws_);
  of_second.resize(draws_);
}

}  // namespace hifi
