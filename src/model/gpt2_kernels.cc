#include "model/gpt2_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hifi {

namespace {

#define HIFI_INLINE inline __attribute__((always_inline))

// Eight partial sums: the order of additions is the same for every instruction set.
using Lanes = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr std::size_t kLanes = 8;

HIFI_INLINE const Lanes& at(const float* p) { return *reinterpret_cast<const Lanes*>(p); }

HIFI_INLINE float total(Lanes x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }

// e^x to 1e-7: 2^k times the Taylor series on [-ln 2 / 2, ln 2 / 2].
HIFI_INLINE float exponential(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  constexpr float kLn2High = 0.693145752F;
  constexpr float kLn2Low = 1.42860677e-6F;
  x = std::min(std::max(x, -87.0F), 88.0F);
  const float shifted = x * 1.44269504F + kRound;
  const float k = shifted - kRound;
  const float r = (x - k * kLn2High) - k * kLn2Low;
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  const std::int32_t power =
      (std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound)) * (1 << 23);
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(sum) + power);
}

HIFI_INLINE float gelu_tanh(float x) {
  // x (1 + tanh u) / 2 = x / (1 + e^(-2u)).
  constexpr float kMinusTwoRoot = -1.59576912F;  // -2 sqrt(2 / pi)
  return x / (1.0F + exponential(kMinusTwoRoot * (x + 0.044715F * x * x * x)));
}

HIFI_INLINE float gelu_erf(float x) { return 0.5F * x * (1.0F + std::erf(x * 0.707106781F)); }

HIFI_INLINE void activate_body(Activation activation, std::size_t count, float* x) {
  if (activation == Activation::gelu_tanh) {
    for (std::size_t k = 0; k < count; ++k) x[k] = gelu_tanh(x[k]);
  } else if (activation == Activation::gelu_erf) {
    for (std::size_t k = 0; k < count; ++k) x[k] = gelu_erf(x[k]);
  } else {
    for (std::size_t k = 0; k < count; ++k) x[k] = std::max(x[k], 0.0F);
  }
}

HIFI_INLINE void sum_body(std::size_t width, const float* base, std::span<const SignedRow> parts,
                          float* out) {
  if (parts.empty()) {
    if (out != base) std::memcpy(out, base, width * sizeof(float));
    return;
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const float* from = p == 0 ? base : out;
    const float* values = parts[p].values;
    const float sign = parts[p].sign;
    for (std::size_t k = 0; k < width; ++k) out[k] = from[k] + sign * values[k];
  }
}

HIFI_INLINE void switched_body(Activation activation, std::size_t width, const float* base,
                               std::span<const SignedRow> parts, float scale, const float* bias, float* out) {
  sum_body(width, base, parts, out);
  for (std::size_t k = 0; k < width; ++k) out[k] = out[k] * scale + bias[k];
  activate_body(activation, width, out);
}

HIFI_INLINE float dot_body(std::size_t width, const float* a, const float* b) {
  Lanes sum{};
  std::size_t k = 0;
  for (; k + kLanes <= width; k += kLanes) sum += at(a + k) * at(b + k);
  float rest = 0;
  for (; k < width; ++k) rest += a[k] * b[k];
  return total(sum) + rest;
}

HIFI_INLINE float sum_of(std::size_t width, const float* x) {
  Lanes sum{};
  std::size_t k = 0;
  for (; k + kLanes <= width; k += kLanes) sum += at(x + k);
  float rest = 0;
  for (; k < width; ++k) rest += x[k];
  return total(sum) + rest;
}

// Centres one row into `out` and returns 1 / std.
HIFI_INLINE float centre_row(std::size_t width, const float* x, float epsilon, float* out) {
  const float mean = sum_of(width, x) / static_cast<float>(width);
  for (std::size_t k = 0; k < width; ++k) out[k] = x[k] - mean;
  return 1.0F / std::sqrt(dot_body(width, out, out) / static_cast<float>(width) + epsilon);
}

HIFI_INLINE void norm_body(std::size_t rows, std::size_t width, const float* x, const float* gain,
                           const float* bias, float epsilon, float* out) {
  for (std::size_t r = 0; r < rows; ++r, x += width, out += width) {
    const float scale = centre_row(width, x, epsilon, out);
    for (std::size_t k = 0; k < width; ++k) out[k] = out[k] * scale * gain[k] + bias[k];
  }
}

HIFI_INLINE void attend_body(std::span<const std::uint32_t> places, std::size_t width, float scale,
                             const float* query, const float* keys, const float* values, std::size_t stride,
                             float* weights, float* out) {
  float most = -INFINITY;
  for (std::size_t j = 0; j < places.size(); ++j) {
    weights[j] = scale * dot_body(width, query, keys + places[j] * stride);
    most = std::max(most, weights[j]);
  }
  float sum = 0;
  for (std::size_t j = 0; j < places.size(); ++j) {
    weights[j] = exponential(weights[j] - most);
    sum += weights[j];
  }
  for (std::size_t k = 0; k < width; ++k) out[k] = 0;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const float weight = weights[j] / sum;
    const float* value = values + places[j] * stride;
    for (std::size_t k = 0; k < width; ++k) out[k] += weight * value[k];
  }
}

#if defined(__x86_64__)
#define HIFI_WIDE __attribute__((target("avx2,fma")))
bool wide() {
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return supported;
}
#else
#define HIFI_WIDE
constexpr bool wide() { return false; }
#endif

HIFI_WIDE void norm_wide(std::size_t rows, std::size_t width, const float* x, const float* gain,
                         const float* bias, float epsilon, float* out) {
  norm_body(rows, width, x, gain, bias, epsilon, out);
}
HIFI_WIDE float centre_wide(std::size_t width, const float* x, float epsilon, float* out) {
  return centre_row(width, x, epsilon, out);
}
HIFI_WIDE void activate_wide(Activation activation, std::size_t count, float* x) {
  activate_body(activation, count, x);
}
HIFI_WIDE void switched_wide(Activation activation, std::size_t width, const float* base,
                             std::span<const SignedRow> parts, float scale, const float* bias, float* out) {
  switched_body(activation, width, base, parts, scale, bias, out);
}
HIFI_WIDE void sum_wide(std::size_t width, const float* base, std::span<const SignedRow> parts, float* out) {
  sum_body(width, base, parts, out);
}
HIFI_WIDE void attend_wide(std::span<const std::uint32_t> places, std::size_t width, float scale,
                           const float* query, const float* keys, const float* values, std::size_t stride,
                           float* weights, float* out) {
  attend_body(places, width, scale, query, keys, values, stride, weights, out);
}
HIFI_WIDE float dot_wide(std::size_t width, const float* a, const float* b) { return dot_body(width, a, b); }

}  // namespace

void layer_norm(std::size_t rows, std::size_t width, const float* x, const float* gain, const float* bias,
                float epsilon, float* out) {
  if (wide()) return norm_wide(rows, width, x, gain, bias, epsilon, out);
  norm_body(rows, width, x, gain, bias, epsilon, out);
}

void centre(std::size_t rows, std::size_t width, const float* x, float epsilon, float* out, float* scale) {
  for (std::size_t r = 0; r < rows; ++r, x += width, out += width) {
    scale[r] = wide() ? centre_wide(width, x, epsilon, out) : centre_row(width, x, epsilon, out);
  }
}

void activate(Activation activation, std::size_t count, float* x) {
  if (wide()) return activate_wide(activation, count, x);
  activate_body(activation, count, x);
}

void switched_activation(Activation activation, std::size_t width, const float* base,
                         std::span<const SignedRow> parts, float scale, const float* bias, float* out) {
  if (wide()) return switched_wide(activation, width, base, parts, scale, bias, out);
  switched_body(activation, width, base, parts, scale, bias, out);
}

void switched_sum(std::size_t width, const float* base, std::span<const SignedRow> parts, float* out) {
  if (wide()) return sum_wide(width, base, parts, out);
  sum_body(width, base, parts, out);
}

void add_bias(std::size_t rows, std::size_t width, const float* bias, float* out) {
  for (std::size_t r = 0; r < rows; ++r, out += width) {
    for (std::size_t k = 0; k < width; ++k) out[k] += bias[k];
  }
}

void attend(std::span<const std::uint32_t> places, std::size_t width, float scale, const float* query,
            const float* keys, const float* values, std::size_t stride, float* weights, float* out) {
  if (wide()) return attend_wide(places, width, scale, query, keys, values, stride, weights, out);
  attend_body(places, width, scale, query, keys, values, stride, weights, out);
}

float dot(std::size_t width, const float* a, const float* b) {
  return wide() ? dot_wide(width, a, b) : dot_body(width, a, b);
}

double log_sum_exp(std::span<const float> x) {
  const float most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const float v : x) sum += exponential(v - most);
  return static_cast<double>(most) + std::log(sum);
}

}  // namespace hifi
