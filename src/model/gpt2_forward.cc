#include "model/gpt2_forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/gemm.h"
#include "model/gpt2_kernels.h"

namespace hifi {

void embed(const Gpt2& model, const TokenRows& rows, float* x) {
  const std::size_t d = model.config().width;
  for (std::size_t r = 0; r < rows.size(); ++r, x += d) {
    const TokenRows::Row& row = rows.row(r);
    if (row.token < 0) {
      std::fill(x, x + d, 0.0F);
      continue;
    }
    const float* token = model.tokens().data() + static_cast<std::size_t>(row.token) * d;
    const float* position = model.positions().data() + row.position * d;
    for (std::size_t k = 0; k < d; ++k) x[k] = token[k] + position[k];
  }
}

float attention_scale(const Gpt2Config& config, std::size_t layer) {
  float scale = config.scale_by_width ? 1.0F / std::sqrt(static_cast<float>(config.head_width())) : 1.0F;
  if (config.scale_by_layer) scale /= static_cast<float>(layer + 1);
  return scale;
}

void run_heads(const Gpt2& model, std::size_t layer, const TokenRows& rows, std::size_t states,
               const float* x, Gpt2Scratch& scratch, float* z) {
  const Gpt2Config& config = model.config();
  const Gpt2Layer& weights = model.layer(layer);
  const std::size_t d = config.width;
  const std::size_t width = config.head_width();
  const std::size_t all = states * rows.size();
  float* norm = scratch.norm.room(all * d);
  float* qkv = scratch.attention.room(all * 3 * d);
  layer_norm(all, d, x, weights.norm1.data(), weights.norm1_bias.data(), config.epsilon, norm);
  multiply({.rows = all,
            .columns = 3 * d,
            .depth = d,
            .a = norm,
            .a_stride = d,
            .b = weights.attention.data(),
            .b_stride = 3 * d,
            .c = qkv,
            .c_stride = 3 * d});
  add_bias(all, 3 * d, weights.attention_bias.data(), qkv);
  const float scale = attention_scale(config, layer);
  float* room = scratch.weights.room(rows.longest());
  for (std::size_t s = 0; s < states; ++s) {
    const float* state = qkv + s * rows.size() * 3 * d;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      float* out = z + (s * rows.size() + r) * d;
      if (rows.row(r).token < 0) {
        std::fill(out, out + d, 0.0F);
        continue;
      }
      for (std::size_t h = 0; h < config.heads; ++h) {
        const std::size_t at = h * width;
        attend(rows.ancestors(r), width, scale, state + r * 3 * d + at, state + d + at, state + 2 * d + at,
               3 * d, room, out + at);
      }
    }
  }
}

void add_heads(const Gpt2& model, std::size_t layer, std::size_t rows, const float* z, float* x) {
  const std::size_t d = model.config().width;
  const Gpt2Layer& weights = model.layer(layer);
  add_bias(rows, d, weights.output_bias.data(), x);
  multiply({.rows = rows,
            .columns = d,
            .depth = d,
            .a = z,
            .a_stride = d,
            .b = weights.output.data(),
            .b_stride = d,
            .c = x,
            .c_stride = d,
            .add = true});
}

void add_outer(const Gpt2& model, std::size_t layer, std::size_t rows, const float* inner, float* x) {
  const Gpt2Config& config = model.config();
  const Gpt2Layer& weights = model.layer(layer);
  add_bias(rows, config.width, weights.outer_bias.data(), x);
  multiply({.rows = rows,
            .columns = config.width,
            .depth = config.inner,
            .a = inner,
            .a_stride = config.inner,
            .b = weights.outer.data(),
            .b_stride = config.width,
            .c = x,
            .c_stride = config.width,
            .add = true});
}

void add_mlp(const Gpt2& model, std::size_t layer, std::size_t rows, Gpt2Scratch& scratch, float* x) {
  const Gpt2Config& config = model.config();
  const Gpt2Layer& weights = model.layer(layer);
  const std::size_t d = config.width;
  float* norm = scratch.norm.room(rows * d);
  float* inner = scratch.inner.room(rows * config.inner);
  layer_norm(rows, d, x, weights.norm2.data(), weights.norm2_bias.data(), config.epsilon, norm);
  multiply({.rows = rows,
            .columns = config.inner,
            .depth = d,
            .a = norm,
            .a_stride = d,
            .b = weights.inner.data(),
            .b_stride = config.inner,
            .c = inner,
            .c_stride = config.inner});
  add_bias(rows, config.inner, weights.inner_bias.data(), inner);
  activate(config.activation, rows * config.inner, inner);
  add_outer(model, layer, rows, inner, x);
}

void forward(const Gpt2& model, const TokenRows& rows, Gpt2Scratch& scratch, Buffer& x,
             const std::function<void(std::size_t layer, float* z)>& change) {
  const std::size_t d = model.config().width;
  float* state = x.room(rows.size() * d);
  Buffer heads;
  float* z = heads.room(rows.size() * d);
  embed(model, rows, state);
  for (std::size_t l = 0; l < model.config().layers; ++l) {
    run_heads(model, l, rows, 1, state, scratch, z);
    if (change) change(l, z);
    add_heads(model, l, rows.size(), z, state);
    add_mlp(model, l, rows.size(), scratch, state);
  }
}

void unembed(const Gpt2& model, std::size_t rows, const float* normed, float* logits) {
  const std::size_t d = model.config().width;
  const std::size_t vocabulary = model.config().vocabulary;
  multiply({.rows = rows,
            .columns = vocabulary,
            .depth = d,
            .a = normed,
            .a_stride = d,
            .b = model.unembedding().data(),
            .b_stride = d,
            .b_transposed = true,
            .c = logits,
            .c_stride = vocabulary});
}

}  // namespace hifi
