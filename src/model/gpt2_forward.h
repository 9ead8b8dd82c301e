// A GPT-2 on rows of tokens, layer by layer: the parts that every engine shares, and the plain pass.
//
// `states` copies of the same rows may run together: activations are states x rows x width.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/gpt2_weights.h"
#include "model/token_rows.h"

namespace hifi {

// Floats that grow to what is asked and start as zeros: rows that fill tiles stay finite.
class Buffer {
 public:
  float* room(std::size_t count) {
    if (values_.size() < count) values_.resize(count);
    return values_.data();
  }
  float* data() { return values_.data(); }

 private:
  std::vector<float> values_;
};

struct Gpt2Scratch {
  Buffer norm, attention, inner, weights;
};

// x = embedding of token and position; zeros for rows that fill tiles.
void embed(const Gpt2& model, const TokenRows& rows, float* x);

// 1 / sqrt(head width), 1 / (layer + 1) or 1, as the model wants.
float attention_scale(const Gpt2Config& config, std::size_t layer);

// z of all heads before they are projected: states x rows x width.
void run_heads(const Gpt2& model, std::size_t layer, const TokenRows& rows, std::size_t states,
               const float* x, Gpt2Scratch& scratch, float* z);
// x += z projected.
void add_heads(const Gpt2& model, std::size_t layer, std::size_t rows, const float* z, float* x);
// x += the MLP's second product, of its activations.
void add_outer(const Gpt2& model, std::size_t layer, std::size_t rows, const float* inner, float* x);
// x += MLP(x).
void add_mlp(const Gpt2& model, std::size_t layer, std::size_t rows, Gpt2Scratch& scratch, float* x);

// All layers. `change` may look at z of each layer and change it.
void forward(const Gpt2& model, const TokenRows& rows, Gpt2Scratch& scratch, Buffer& x,
             const std::function<void(std::size_t layer, float* z)>& change);

// logits[rows x vocabulary] of rows that went through the final norm.
void unembed(const Gpt2& model, std::size_t rows, const float* normed, float* logits);

}  // namespace hifi
