// The weights of a GPT-2 as floats, row-major, inputs by outputs (as the hub stores them).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gpt2_config.h"
#include "model/safetensors.h"

namespace hifi {

struct Gpt2Layer {
  Floats norm1, norm1_bias;
  Floats attention, attention_bias;  // width x 3 width: queries, keys, values
  Floats output, output_bias;        // width x width: heads to residual
  Floats norm2, norm2_bias;
  Floats inner, inner_bias;  // width x inner
  Floats outer, outer_bias;  // inner x width
};

class Gpt2 {
 public:
  // Opens a folder of the hub. Throws Error(input) naming file, field or tensor.
  explicit Gpt2(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const Gpt2Config& config() const { return config_; }
  const Floats& tokens() const { return tokens_; }        // vocabulary x width
  const Floats& positions() const { return positions_; }  // context x width
  const Gpt2Layer& layer(std::size_t index) const { return layers_[index]; }
  const Floats& norm() const { return norm_; }
  const Floats& norm_bias() const { return norm_bias_; }
  const Floats& unembedding() const { return config_.tied ? tokens_ : unembedding_; }  // vocabulary x width

  std::uint64_t bytes() const;  // mapped and copied
  std::string hash() const;     // of config and weights

 private:
  Floats take(const std::string& name, std::vector<std::size_t> shape) const;

  std::string folder_;
  Gpt2Config config_;
  std::unique_ptr<WeightFiles> files_;
  Floats tokens_, positions_, norm_, norm_bias_, unembedding_;
  std::vector<Gpt2Layer> layers_;
};

}  // namespace hifi
