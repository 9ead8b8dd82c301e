// A GPT-2 with random weights as a folder of the hub, and an oracle: the same model by plain loops in double.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/test_folder.h"

namespace hifi {

struct TestGpt2 {
  std::size_t layers = 3, heads = 3, width = 12, inner = 20, context = 16, vocabulary = 30;
  bool tied = true;
  std::string activation = "gelu_new";
  std::string prefix = "transformer.";
  nlohmann::json more = nlohmann::json::object();  // of config.json
  float size = 0.4F;                               // of the weights
  std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<float>>> tensors;

  void add(const std::string& name, std::vector<std::size_t> shape, float centre = 0) {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    RandomStream random(tensors.size(), Purpose::probe);
    std::vector<float> values(count);
    for (float& v : values) v = centre + size * static_cast<float>(2 * random.uniform() - 1);
    tensors[name] = {std::move(shape), std::move(values)};
  }
  TestGpt2& fill() {
    add("wte.weight", {vocabulary, width});
    add("wpe.weight", {context, width});
    for (std::size_t l = 0; l < layers; ++l) {
      const std::string h = "h." + std::to_string(l) + ".";
      add(h + "ln_1.weight", {width}, 1);
      add(h + "ln_1.bias", {width});
      add(h + "attn.c_attn.weight", {width, 3 * width});
      add(h + "attn.c_attn.bias", {3 * width});
      add(h + "attn.c_proj.weight", {width, width});
      add(h + "attn.c_proj.bias", {width});
      add(h + "ln_2.weight", {width}, 1);
      add(h + "ln_2.bias", {width});
      add(h + "mlp.c_fc.weight", {width, inner});
      add(h + "mlp.c_fc.bias", {inner});
      add(h + "mlp.c_proj.weight", {inner, width});
      add(h + "mlp.c_proj.bias", {width});
    }
    add("ln_f.weight", {width}, 1);
    add("ln_f.bias", {width});
    if (!tied) add("lm_head.weight", {vocabulary, width});
    return *this;
  }
  nlohmann::json config() const {
    nlohmann::json c = {{"model_type", "gpt2"},
                        {"n_layer", layers},
                        {"n_head", heads},
                        {"n_embd", width},
                        {"n_inner", inner},
                        {"n_positions", context},
                        {"vocab_size", vocabulary},
                        {"activation_function", activation},
                        {"tie_word_embeddings", tied}};
    c.update(more);
    return c;
  }
  std::string safetensors() const {
    nlohmann::json header;
    std::string data;
    for (const auto& [name, tensor] : tensors) {
      const std::size_t begin = data.size();
      data.append(reinterpret_cast<const char*>(tensor.second.data()), 4 * tensor.second.size());
      header[(name == "lm_head.weight" ? "" : prefix) + name] = {
          {"dtype", "F32"}, {"shape", tensor.first}, {"data_offsets", {begin, data.size()}}};
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + text + data;
  }
  void write(const TemporaryFolder& folder) const {
    folder.write("config.json", config().dump());
    folder.write("model.safetensors", safetensors());
  }

  // Logits at the last position. `change` may change z of a head at a position.
  using Change =
      std::function<void(std::size_t layer, std::size_t head, std::size_t position, std::vector<double>& z)>;
  std::vector<double> logits(const std::vector<std::int32_t>& tokens, const Change& change = {},
                             double* final_scale = nullptr, bool keep_scale = false) const;

 private:
  double at(const std::string& name, std::size_t i, std::size_t j = 0) const {
    const auto& [shape, values] = tensors.at(name);
    return static_cast<double>(values[shape.size() == 1 ? i : i * shape[1] + j]);
  }
  // keep: use *scale instead of the row's own.
  std::vector<double> norm(const std::vector<double>& x, const std::string& name, double* scale = nullptr,
                           bool keep = false) const {
    double mean = 0, variance = 0;
    for (const double v : x) mean += v / static_cast<double>(width);
    for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(width);
    double own = 1 / std::sqrt(variance + more.value("layer_norm_epsilon", 1e-5));
    if (scale != nullptr && keep) own = *scale;
    if (scale != nullptr) *scale = own;
    std::vector<double> out(width);
    for (std::size_t k = 0; k < width; ++k)
      out[k] = (x[k] - mean) * own * at(name + ".weight", k) + at(name + ".bias", k);
    return out;
  }
  std::vector<double> times(const std::vector<double>& x, const std::string& name,
                            std::size_t columns) const {
    const std::vector<float>& weight = tensors.at(name + ".weight").second;
    const std::vector<float>& bias = tensors.at(name + ".bias").second;
    std::vector<double> out(bias.begin(), bias.end());
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < x.size(); ++i)
        out[j] += x[i] * static_cast<double>(weight[i * columns + j]);
    }
    return out;
  }
  double activate(double x) const {
    if (activation == "relu") return x > 0 ? x : 0;
    if (activation == "gelu") return x * std::erfc(-x / std::sqrt(2.0)) / 2;
    return x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
  }
};

inline std::vector<double> TestGpt2::logits(const std::vector<std::int32_t>& tokens, const Change& change,
                                            double* final_scale, bool keep_scale) const {
  const std::size_t n = tokens.size();
  const std::size_t dh = width / heads;
  std::vector<std::vector<double>> x(n, std::vector<double>(width));
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t k = 0; k < width; ++k)
      x[p][k] = at("wte.weight", static_cast<std::size_t>(tokens[p]), k) + at("wpe.weight", p, k);
  }
  for (std::size_t l = 0; l < layers; ++l) {
    const std::string name = "h." + std::to_string(l) + ".";
    std::vector<std::vector<double>> qkv;
    for (const auto& row : x) qkv.push_back(times(norm(row, name + "ln_1"), name + "attn.c_attn", 3 * width));
    double scale = more.value("scale_attn_weights", true) ? 1 / std::sqrt(static_cast<double>(dh)) : 1;
    if (more.value("scale_attn_by_inverse_layer_idx", false)) scale /= static_cast<double>(l + 1);
    for (std::size_t p = 0; p < n; ++p) {
      std::vector<double> z(width);
      for (std::size_t h = 0; h < heads; ++h) {
        std::vector<double> weight(p + 1), own(dh);
        double sum = 0;
        for (std::size_t j = 0; j <= p; ++j) {
          double score = 0;
          for (std::size_t k = 0; k < dh; ++k) score += qkv[p][h * dh + k] * qkv[j][width + h * dh + k];
          sum += weight[j] = std::exp(score * scale);
        }
        for (std::size_t j = 0; j <= p; ++j) {
          for (std::size_t k = 0; k < dh; ++k) own[k] += weight[j] / sum * qkv[j][2 * width + h * dh + k];
        }
        if (change) change(l, h, p, own);
        std::copy(own.begin(), own.end(), z.begin() + static_cast<std::ptrdiff_t>(h * dh));
      }
      const auto attended = times(z, name + "attn.c_proj", width);
      for (std::size_t k = 0; k < width; ++k) x[p][k] += attended[k];
      auto wide = times(norm(x[p], name + "ln_2"), name + "mlp.c_fc", inner);
      for (double& v : wide) v = activate(v);
      const auto out = times(wide, name + "mlp.c_proj", width);
      for (std::size_t k = 0; k < width; ++k) x[p][k] += out[k];
    }
  }
  const auto last = norm(x.back(), "ln_f", final_scale, keep_scale);
  std::vector<double> result(vocabulary);
  const std::vector<float>& read = tensors.at(tied ? "wte.weight" : "lm_head.weight").second;
  for (std::size_t v = 0; v < vocabulary; ++v) {
    for (std::size_t k = 0; k < width; ++k) result[v] += last[k] * static_cast<double>(read[v * width + k]);
  }
  return result;
}

}  // namespace hifi
