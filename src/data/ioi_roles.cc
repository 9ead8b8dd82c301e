#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "core/json_text.h"
#include "data/ioi_task.h"
#include "hifi/error.h"

namespace hifi {

const Roles& published_ioi_roles() {
  // Wang et al. 2023, "Interpretability in the wild", as the paper lists them.
  static const Roles roles = {
      {"Name-Mover", {"9.9", "9.6", "10.0", "10.10"}},
      {"S-Inhibition", {"7.3", "7.9", "8.6", "8.10"}},
      {"Induction", {"5.5", "5.8", "5.9", "6.9"}},
      {"Duplicate-Token", {"3.0", "0.1", "0.10"}},
      {"Previous-Token", {"4.11", "2.2", "5.6"}},
      {"Backup-Name-Mover", {"9.0", "10.1", "10.6", "11.2", "11.3", "11.6"}},
      {"Negative-Name-Mover", {"10.7", "11.10"}},
  };
  return roles;
}

Roles ioi_roles(const std::string& model_folder) {
  const std::string path = model_folder + "/config.json";
  const auto config = parse_json<nlohmann::ordered_json>(read_file(path), path);
  if (!config.is_object()) throw input_error(fmt::format("{} is no JSON object", path), "");
  const auto own = nlohmann::ordered_json::json_pointer("/task_specific_params/ioi/roles");
  try {
    if (config.contains(own)) {
      Roles roles;
      for (const auto& [role, heads] : config.at(own).items()) roles.emplace_back(role, heads);
      return roles;
    }
  } catch (const nlohmann::json::exception&) {
    throw input_error(fmt::format("{}: task_specific_params.ioi.roles is no list of heads by role", path),
                      R"(write {"Name-Mover": ["9.9"]})");
  }
  const auto is = [&](const char* field, int value) {
    return config.contains(field) && config[field] == value;
  };
  if (is("n_layer", 12) && is("n_head", 12) && is("n_embd", 768)) return published_ioi_roles();
  return {};
}

}  // namespace hifi
