#include "report/words.h"

#include <nlohmann/json.hpp>

namespace hifi {

Words words_of(const std::string& provenance) {
  const auto told = nlohmann::json::parse(provenance, nullptr, false);
  if (!told.is_object() || !told.contains("circuit")) return {"rows", "pair of rows", "known"};
  const bool resample = told.value(nlohmann::json::json_pointer("/background/kind"), "mean") == "resample";
  return {"prompts", resample ? "pair of prompts" : "prompt", "intact"};
}

}  // namespace hifi
