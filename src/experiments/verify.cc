#include "experiments/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "hifi/error.h"

namespace hifi {

std::vector<Check> verify(const std::vector<std::string>& names, const Machinery& machinery,
                          Workers& workers) {
  const std::vector<std::pair<std::string, std::function<std::vector<Check>()>>> parts = {
      {"T1", [&] { return verify_conflation(machinery); }},
      {"T2", [] { return verify_monte_carlo(); }},
      {"T3", [&] { return verify_diamonds(machinery, workers); }},
      {"T4", [&] { return verify_vocabulary(machinery); }},
      {"P", [&] { return verify_propagation(machinery); }}};
  for (const std::string& name : names) {
    if (std::none_of(parts.begin(), parts.end(), [&](const auto& part) { return part.first == name; }))
      throw Error(ErrorCode::usage, fmt::format("\"{}\" is no theorem", name),
                  "they are T1, T2, T3, T4, and P for the proposition");
  }
  std::vector<Check> checks;
  for (const auto& [name, run] : parts) {
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    for (Check& check : run()) checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace hifi
