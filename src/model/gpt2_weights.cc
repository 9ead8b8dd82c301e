#include "model/gpt2_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/files.h"
#include "core/hash.h"
#include "hifi/error.h"

namespace hifi {

// Models saved whole have the prefix "transformer.", bare ones have not.
Floats Gpt2::take(const std::string& name, std::vector<std::size_t> shape) const {
  const Tensor* tensor = files_->find("transformer." + name);
  if (tensor == nullptr) tensor = files_->find(name);
  if (tensor == nullptr)
    throw input_error(fmt::format("{}: the weights have no tensor \"{}\"", folder_, name));
  if (tensor->shape != shape) {
    throw input_error(fmt::format("{}: tensor \"{}\" has shape [{}], config.json asks for [{}]",
                                  *tensor->path, name, fmt::join(tensor->shape, ", "),
                                  fmt::join(shape, ", ")));
  }
  Floats floats(*tensor, name);
  const auto values = floats.span();
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    throw input_error(fmt::format("{}: tensor \"{}\" has numbers that are not finite", *tensor->path, name));
  }
  return floats;
}

Gpt2::Gpt2(const std::string& folder)
    : folder_(folder), config_(read_gpt2_config(folder)), files_(std::make_unique<WeightFiles>(folder)) {
  const std::size_t d = config_.width;
  const std::size_t inner = config_.inner;
  tokens_ = take("wte.weight", {config_.vocabulary, d});
  positions_ = take("wpe.weight", {config_.context, d});
  for (std::size_t l = 0; l < config_.layers; ++l) {
    const auto part = [&](const char* name, std::vector<std::size_t> shape) {
      return take(fmt::format("h.{}.{}", l, name), std::move(shape));
    };
    layers_.push_back({.norm1 = part("ln_1.weight", {d}),
                       .norm1_bias = part("ln_1.bias", {d}),
                       .attention = part("attn.c_attn.weight", {d, 3 * d}),
                       .attention_bias = part("attn.c_attn.bias", {3 * d}),
                       .output = part("attn.c_proj.weight", {d, d}),
                       .output_bias = part("attn.c_proj.bias", {d}),
                       .norm2 = part("ln_2.weight", {d}),
                       .norm2_bias = part("ln_2.bias", {d}),
                       .inner = part("mlp.c_fc.weight", {d, inner}),
                       .inner_bias = part("mlp.c_fc.bias", {inner}),
                       .outer = part("mlp.c_proj.weight", {inner, d}),
                       .outer_bias = part("mlp.c_proj.bias", {d})});
  }
  norm_ = take("ln_f.weight", {d});
  norm_bias_ = take("ln_f.bias", {d});
  if (!config_.tied) unembedding_ = take("lm_head.weight", {config_.vocabulary, d});
}

std::uint64_t Gpt2::bytes() const {
  std::uint64_t copied = tokens_.copied_bytes() + positions_.copied_bytes() + unembedding_.copied_bytes();
  for (const Gpt2Layer& l : layers_) {
    for (const Floats* f : {&l.attention, &l.output, &l.inner, &l.outer}) copied += f->copied_bytes();
  }
  return files_->bytes() + copied;
}

std::string Gpt2::hash() const {
  const std::string config = read_file((std::filesystem::path(folder_) / "config.json").string());
  return hex_hash(hex_hash(config) + files_->hash());
}

}  // namespace hifi
