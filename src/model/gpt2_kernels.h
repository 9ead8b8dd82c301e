// The parts of a GPT-2 that are no matrix products, for rows that lie one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/gpt2_config.h"

namespace hifi {

// out = x / std(x) * gain + bias, x centred. `out` may be `x`.
void layer_norm(std::size_t rows, std::size_t width, const float* x, const float* gain, const float* bias,
                float epsilon, float* out);
// out = x - mean(x); scale[row] = 1 / std(x).
void centre(std::size_t rows, std::size_t width, const float* x, float epsilon, float* out, float* scale);

void activate(Activation activation, std::size_t count, float* x);

// out = activation((sum of parts with their signs) * scale + bias), the heart of a switched MLP.
struct SignedRow {
  const float* values = nullptr;
  float sign = 1;
};
void switched_activation(Activation activation, std::size_t width, const float* base,
                         std::span<const SignedRow> parts, float scale, const float* bias, float* out);
// out = base + sum of parts with their signs.
void switched_sum(std::size_t width, const float* base, std::span<const SignedRow> parts, float* out);

// out += bias, row by row.
void add_bias(std::size_t rows, std::size_t width, const float* bias, float* out);

// One head of one row: out = sum_j softmax_j(query . keys[j] * scale) values[j]. keys[j] is at
// `keys + places[j] * stride`, likewise values. `weights` has room for places.size().
void attend(std::span<const std::uint32_t> places, std::size_t width, float scale, const float* query,
            const float* keys, const float* values, std::size_t stride, float* weights, float* out);

float dot(std::size_t width, const float* a, const float* b);

// log(sum exp(x)), in double where it matters.
double log_sum_exp(std::span<const float> x);

}  // namespace hifi
