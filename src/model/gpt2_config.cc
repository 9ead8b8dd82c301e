#include "model/gpt2_config.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/json_text.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using nlohmann::json;

class Fields {
 public:
  Fields(const json& object, std::string path) : object_(object), path_(std::move(path)) {}

  bool has(const char* name) const { return object_.contains(name) && !object_[name].is_null(); }

  std::size_t count(const char* name, std::size_t fallback = 0) const {
    constexpr std::uint64_t kMost = 10'000'000;
    if (!has(name) && fallback != 0) return fallback;
    if (!has(name)) throw input_error(fmt::format("{}: has no \"{}\"", path_, name));
    const json& value = object_[name];
    const bool fits =
        value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= kMost;
    if (!fits) throw wrong(name, fmt::format("a count from 1 to {}", kMost));
    return value.get<std::size_t>();
  }
  bool flag(const char* name, bool fallback) const {
    if (!has(name)) return fallback;
    if (!object_[name].is_boolean()) throw wrong(name, "true or false");
    return object_[name].get<bool>();
  }
  std::string text(const char* name, const std::string& fallback) const {
    if (!has(name)) return fallback;
    if (!object_[name].is_string()) throw wrong(name, "a text");
    return object_[name].get<std::string>();
  }
  float positive(const char* name, float fallback) const {
    if (!has(name)) return fallback;
    if (!object_[name].is_number() || !(object_[name].get<double>() > 0) || object_[name].get<double>() > 1)
      throw wrong(name, "between 0 and 1");
    return object_[name].get<float>();
  }
  Error wrong(const char* name, const std::string& wanted) const {
    return input_error(
        fmt::format("{}: \"{}\" is {}, must be {}", path_, name, object_[name].dump().substr(0, 40), wanted));
  }

 private:
  const json& object_;
  std::string path_;
};

Activation parse_activation(const std::string& name, const std::string& path) {
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "gelu") return Activation::gelu_erf;
  if (name == "relu") return Activation::relu;
  throw input_error(fmt::format("{}: unknown activation_function \"{}\"", path, name),
                    "gelu_new, gelu_pytorch_tanh, gelu and relu are known");
}

}  // namespace

Gpt2Config read_gpt2_config(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw input_error(fmt::format("{}: there is no such folder", folder),
                      "a circuit's model is a folder with config.json and model.safetensors");
  }
  const std::string path = (std::filesystem::path(folder) / "config.json").string();
  const json document = parse_json(read_file(path), path);
  if (!document.is_object()) throw input_error(fmt::format("{}: is no JSON object", path));
  const Fields fields(document, path);
  const std::string kind = fields.text("model_type", "");
  if (kind != "gpt2") {
    throw input_error(fmt::format("{}: unknown architecture, model_type \"{}\"", path, kind),
                      "circuits are read from models of the GPT-2 family (model_type gpt2)");
  }
  if (fields.flag("add_cross_attention", false)) {
    throw input_error(fmt::format("{}: unknown architecture, add_cross_attention", path));
  }
  Gpt2Config config{
      .layers = fields.count("n_layer"),
      .heads = fields.count("n_head"),
      .width = fields.count("n_embd"),
      .context = fields.count("n_positions", fields.has("n_ctx") ? fields.count("n_ctx") : 1024),
      .vocabulary = fields.count("vocab_size"),
      .activation = parse_activation(fields.text("activation_function", "gelu_new"), path),
      .epsilon = fields.positive("layer_norm_epsilon", 1e-5F),
      .scale_by_width = fields.flag("scale_attn_weights", true),
      .scale_by_layer = fields.flag("scale_attn_by_inverse_layer_idx", false),
      .tied = fields.flag("tie_word_embeddings", true)};
  config.inner = fields.count("n_inner", 4 * config.width);
  constexpr std::size_t kMostHeads = 64;  // of a layer: a word of bits
  if (config.width % config.heads != 0 || config.heads > kMostHeads) {
    throw input_error(fmt::format("{}: n_embd {} does not go into n_head {} heads (at most {})", path,
                                  config.width, config.heads, kMostHeads));
  }
  return config;
}

}  // namespace hifi
