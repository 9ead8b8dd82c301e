// config.json of a GPT-2 of the hub: sizes and choices that the engine knows. Others are refused.
#pragma once

#include <cstddef>
#include <string>

namespace hifi {

enum class Activation { gelu_tanh, gelu_erf, relu };

struct Gpt2Config {
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t width = 0;
  std::size_t inner = 0;    // width of the MLP
  std::size_t context = 0;  // longest prompt
  std::size_t vocabulary = 0;
  Activation activation = Activation::gelu_tanh;
  float epsilon = 1e-5F;
  bool scale_by_width = true;   // attention scores by 1 / sqrt(head width)
  bool scale_by_layer = false;  // and by 1 / (layer + 1)
  bool tied = true;             // the output reads with the token embedding

  std::size_t head_width() const { return width / heads; }
};

// Reads config.json of the folder. Throws Error(input) naming file and field.
Gpt2Config read_gpt2_config(const std::string& folder);

}  // namespace hifi
