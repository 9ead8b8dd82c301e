// circuit_parts tokenize FOLDER: for each line of JSON strings on stdin a line of token ids, or "error: ..".
// circuit_parts decode FOLDER: the way back, lines of JSON lists to JSON strings.
// circuit_parts logits FOLDER: for each line with a JSON list of tokens a line with the logits at its end.
// Lets Python tests compare with the owners' libraries.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/gemm.h"
#include "data/tokenizer.h"
#include "hifi/error.h"
#include "model/gpt2_forward.h"
#include "model/gpt2_kernels.h"

namespace {

using nlohmann::json;

std::vector<float> logits(const hifi::Gpt2& model, const std::vector<std::int32_t>& tokens) {
  const hifi::TokenRows::Prompt prompt{.tokens = tokens};
  const hifi::TokenRows rows({&prompt, 1}, false);
  hifi::Gpt2Scratch scratch;
  hifi::Buffer x;
  hifi::forward(model, rows, scratch, x, {});
  const std::size_t d = model.config().width;
  std::vector<float> normed(hifi::kRowTile * d);
  std::vector<float> out(hifi::kRowTile * model.config().vocabulary);
  hifi::layer_norm(1, d, x.data() + rows.last(0) * d, model.norm().data(), model.norm_bias().data(),
                   model.config().epsilon, normed.data());
  hifi::unembed(model, 1, normed.data(), out.data());
  out.resize(model.config().vocabulary);
  return out;
}

int run(const std::string& what, const std::string& folder) {
  std::string line;
  if (what == "logits") {
    const hifi::Gpt2 model(folder);
    while (std::getline(std::cin, line)) {
      fmt::print("{}\n", fmt::join(logits(model, json::parse(line).get<std::vector<std::int32_t>>()), " "));
    }
    return 0;
  }
  const hifi::Tokenizer tokenizer(folder);
  while (std::getline(std::cin, line)) {
    try {
      if (what == "tokenize") {
        fmt::print("{}\n", fmt::join(tokenizer.encode(json::parse(line).get<std::string>()), " "));
      } else {
        fmt::print("{}\n", json(tokenizer.decode(json::parse(line).get<std::vector<hifi::Token>>())).dump());
      }
    } catch (const hifi::Error& error) {
      fmt::print("error: {}\n", error.what());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return run(argv[1], argv[2]);
  } catch (const hifi::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
