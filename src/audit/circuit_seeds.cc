#include "audit/circuit_seeds.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "audit/audit.h"
#include "audit/profile.h"
#include "report/circuit.h"
#include "report/text_table.h"
#include "stats/student.h"

namespace hifi {

namespace {

using nlohmann::ordered_json;

constexpr const char* kHeadQuantities[] = {"U", "R", "S", "Lmax"};
constexpr const char* kRoleQuantities[] = {"S", "R"};

void add(OverSeeds& over, const std::optional<double>& value) {
  if (value) over.values.push_back(*value);
}

void add_profile(SeedSpread& spread, const Profile& profile) {
  for (std::size_t i = 0; i < profile.features.size(); ++i) {
    const FeatureProfile& f = profile.features[i];
    auto& quantities = spread.heads[i].quantities;
    add(quantities[0], f.U.value);
    add(quantities[1], f.R.value);
    add(quantities[2], f.S.value);
    add(quantities[3], f.Lmax.value);
  }
  const auto circuit = circuit_of(profile);
  std::map<std::vector<std::string>, const RolePair*> found;
  for (const RolePair& pair : circuit->role_pairs) found[{pair.first, pair.second}] = &pair;
  for (SeedSpread::Row& row : spread.roles) {
    const auto pair = found.find(row.names);
    if (pair == found.end()) continue;
    add(row.quantities[0], pair->second->S);
    add(row.quantities[1], pair->second->R);
  }
}

void finish(OverSeeds& over, std::size_t seeds, double confidence) {
  if (over.values.size() < seeds) return;
  const auto count = static_cast<double>(seeds);
  const double mean = std::accumulate(over.values.begin(), over.values.end(), 0.0) / count;
  double squares = 0;
  for (const double v : over.values) squares += (v - mean) * (v - mean);
  over.mean = mean;
  over.deviation = std::sqrt(squares / (count - 1));
  const double half = t_quantile(.5 + confidence / 2, count - 1) * over.deviation / std::sqrt(count);
  over.low = mean - half;
  over.high = mean + half;
}

ordered_json row_json(const SeedSpread::Row& row, std::span<const char* const> names, ordered_json result) {
  for (std::size_t q = 0; q < names.size(); ++q) {
    const OverSeeds& over = row.quantities[q];
    result[names[q]] = over.mean ? ordered_json{{"mean", *over.mean},
                                                {"sd", over.deviation},
                                                {"low", over.low},
                                                {"high", over.high}}
                                 : ordered_json(nullptr);
  }
  return result;
}

std::vector<std::string> row_text(const SeedSpread::Row& row, const std::string& name) {
  std::vector<std::string> cells{name};
  for (const OverSeeds& over : row.quantities)
    cells.push_back(over.mean ? fmt::format("{:.3g} [{:.3g}, {:.3g}]", *over.mean, over.low, over.high)
                              : "-");
  return cells;
}

}  // namespace

SeedSpread run_other_seeds(const ExplainRequest& request, const Profile& first, std::size_t seeds,
                           Workers& workers, const std::function<void(std::uint64_t)>& tell) {
  SeedSpread spread{.confidence = request.confidence};
  for (const std::string& player : first.players)
    spread.heads.push_back({{player}, std::vector<OverSeeds>(std::size(kHeadQuantities))});
  const auto circuit = circuit_of(first);
  for (const RolePair& pair : circuit->role_pairs)
    spread.roles.push_back({{pair.first, pair.second}, std::vector<OverSeeds>(std::size(kRoleQuantities))});
  for (std::size_t k = 0; k < seeds; ++k) {
    ExplainRequest other = request;
    other.seed += k;
    spread.seeds.push_back(other.seed);
    if (k == 0) {
      add_profile(spread, first);
      continue;
    }
    tell(other.seed);
    Audit audit(other, {}, workers);
    const RunResult result = audit.run(nullptr, {});
    add_profile(spread, make_profile(audit.plan(), result, "all", workers));
  }
  for (auto* rows : {&spread.heads, &spread.roles}) {
    for (SeedSpread::Row& row : *rows) {
      for (OverSeeds& over : row.quantities) finish(over, seeds, spread.confidence);
    }
  }
  return spread;
}

std::string seed_spread_json(const SeedSpread& spread) {
  ordered_json heads = ordered_json::array();
  for (const SeedSpread::Row& row : spread.heads)
    heads.push_back(row_json(row, kHeadQuantities, {{"player", row.names[0]}}));
  ordered_json roles = ordered_json::array();
  for (const SeedSpread::Row& row : spread.roles)
    roles.push_back(row_json(row, kRoleQuantities, {{"roles", row.names}}));
  return ordered_json{
      {"seeds", spread.seeds}, {"confidence", spread.confidence}, {"features", heads}, {"role_pairs", roles}}
      .dump();
}

std::string seed_spread_text(const SeedSpread& spread) {
  TextRows heads{{"player", "U", "R", "S", "Lmax"}};
  for (const SeedSpread::Row& row : spread.heads) heads.push_back(row_text(row, short_name(row.names[0])));
  std::string text = fmt::format("\nOver {} sets of prompts: mean and {:.4g} % interval of the mean\n",
                                 spread.seeds.size(), 100 * spread.confidence) +
                     aligned(heads, {true, false, false, false, false});
  if (spread.roles.empty()) return text;
  TextRows roles{{"roles", "S", "R"}};
  for (const SeedSpread::Row& row : spread.roles)
    roles.push_back(row_text(row, short_name(row.names[0]) + " + " + short_name(row.names[1])));
  return text + "\n" + aligned(roles, {true, false, false});
}

}  // namespace hifi
