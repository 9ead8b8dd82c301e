#include "report/circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "data/text_column.h"
#include "report/findings.h"
#include "report/text_table.h"
#include "stats/correlation.h"

namespace hifi {

namespace {

using nlohmann::ordered_json;

// The role that all heads of a player have.
std::vector<std::optional<std::string>> roles_of(const Profile& profile, const ordered_json& circuit) {
  std::map<std::string, std::string> by_head;
  for (const auto& [role, heads] : circuit.at("roles").items()) {
    for (const auto& head : heads) by_head[head.get<std::string>()] = role;
  }
  std::vector<std::optional<std::string>> result;
  for (const std::string& player : profile.players) {
    std::optional<std::string> role;
    bool one = true;
    for (const auto& head : circuit.at("players").at(player)) {
      const auto found = by_head.find(head.get<std::string>());
      const std::string own = found == by_head.end() ? "" : found->second;
      one = one && !own.empty() && (!role || *role == own);
      role = own;
    }
    result.push_back(one ? role : std::nullopt);
  }
  return result;
}

std::vector<RolePair> role_pairs_of(const Profile& profile,
                                    const std::vector<std::optional<std::string>>& role,
                                    const ordered_json& roles) {
  std::vector<std::string> names;
  for (const auto& [name, heads] : roles.items()) names.push_back(name);
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  std::map<std::pair<std::size_t, std::size_t>, RolePair> sums;
  for (const PairProfile& pair : profile.pairs) {
    if (!role[pair.first] || !role[pair.second] || !pair.S.value || !pair.R.value) continue;
    const auto [low, high] = std::minmax({place(*role[pair.first]), place(*role[pair.second])});
    RolePair& sum = sums[{low, high}];
    sum.first = names[low];
    sum.second = names[high];
    ++sum.pairs;
    sum.S += *pair.S.value;
    sum.R += *pair.R.value;
  }
  std::vector<RolePair> result;
  for (auto& [key, sum] : sums) {
    sum.S /= static_cast<double>(sum.pairs);
    sum.R /= static_cast<double>(sum.pairs);
    result.push_back(std::move(sum));
  }
  return result;
}

// Of the players that have both numbers.
std::optional<double> rank_correlation(const Profile& profile, Quantity FeatureProfile::*first,
                                       Quantity FeatureProfile::*second) {
  std::vector<double> x, y;
  for (const FeatureProfile& f : profile.features) {
    if (!(f.*first).value || !(f.*second).value) continue;
    x.push_back(*(f.*first).value);
    y.push_back(*(f.*second).value);
  }
  const auto found = spearman(x, y);
  return found ? std::optional(found->value) : std::nullopt;
}

// S is clearly above the threshold, the score of the head alone is not.
std::vector<HiddenHead> hidden_of(const Profile& profile) {
  std::vector<HiddenHead> result;
  if (!profile.coverage.threshold) return result;
  const double e = *profile.coverage.threshold;
  for (std::uint32_t i = 0; i < profile.features.size(); ++i) {
    const FeatureProfile& f = profile.features[i];
    if (!f.S.value || !f.pi.value || !f.last.value) continue;
    if (f.S.low.value_or(*f.S.value) <= e || *f.pi.value > e) continue;
    HiddenHead head{.player = i, .by_ablation = *f.last.value <= e};
    double most = e;
    for (const PairProfile& pair : profile.pairs) {
      if ((pair.first != i && pair.second != i) || !pair.S.value || *pair.S.value <= most) continue;
      most = *pair.S.value;
      head.partner = pair.first == i ? pair.second : pair.first;
    }
    result.push_back(head);
  }
  return result;
}

std::string about(const ordered_json& provenance) {
  const auto text = [&](const char* part, const char* field) {
    const ordered_json::json_pointer place(fmt::format("/{}/{}", part, field));
    return one_line(provenance.contains(place) ? provenance.at(place).get<std::string>() : "-");
  };
  return fmt::format("Model {}, task {}, absent heads give {}{}", text("model", "path"), text("data", "path"),
                     text("background", "description"),
                     provenance.at("circuit").at("freeze_layernorm").get<bool>()
                         ? "; read with the scale of the final LayerNorm of the intact run"
                         : "");
}

ordered_json number(const std::optional<double>& x) { return x ? ordered_json(*x) : ordered_json(nullptr); }

std::string cell(const std::optional<double>& x) { return x ? short_number(*x, 4) : "-"; }
std::string correlation(const std::optional<double>& x) { return x ? fmt::format("{:.3f}", *x) : "-"; }

}  // namespace

std::optional<Circuit> circuit_of(const Profile& profile) {
  const ordered_json provenance = ordered_json::parse(profile.provenance, nullptr, false);
  if (!provenance.is_object() || !provenance.contains("circuit")) return std::nullopt;
  const ordered_json& stored = provenance["circuit"];
  Circuit circuit{.about = about(provenance), .role = roles_of(profile, stored)};
  for (const auto& [player, heads] : stored.at("players").items())
    circuit.groups = circuit.groups || heads.size() > 1;
  circuit.role_pairs = role_pairs_of(profile, circuit.role, stored.at("roles"));
  const std::pair<const char*, Quantity FeatureProfile::*> quantities[] = {{"U", &FeatureProfile::U},
                                                                           {"R", &FeatureProfile::R},
                                                                           {"S", &FeatureProfile::S},
                                                                           {"Lmax", &FeatureProfile::Lmax}};
  for (const auto& [name, quantity] : quantities) {
    circuit.ranks.push_back({name, rank_correlation(profile, quantity, &FeatureProfile::pi),
                             rank_correlation(profile, quantity, &FeatureProfile::last)});
  }
  circuit.restore_ablate = rank_correlation(profile, &FeatureProfile::pi, &FeatureProfile::last);
  circuit.hidden = hidden_of(profile);
  return circuit;
}

std::string circuit_json(const Profile& profile, const Circuit& circuit) {
  ordered_json result = {{"restore", ordered_json::object()},
                         {"ablate", ordered_json::object()},
                         {"role_pairs", ordered_json::array()}};
  for (std::size_t i = 0; i < profile.players.size(); ++i) {
    result["restore"][profile.players[i]] = number(profile.features[i].pi.value);
    result["ablate"][profile.players[i]] = number(profile.features[i].last.value);
  }
  for (const RolePair& pair : circuit.role_pairs) {
    result["role_pairs"].push_back(
        {{"roles", {pair.first, pair.second}}, {"pairs", pair.pairs}, {"S", pair.S}, {"R", pair.R}});
  }
  ordered_json& ranks = result["spearman"];
  for (const Circuit::Ranks& rank : circuit.ranks) {
    ranks[rank.quantity] = {{"restore", number(rank.restore)}, {"ablate", number(rank.ablate)}};
  }
  ranks["restore_ablate"] = number(circuit.restore_ablate);
  result["hidden"] = ordered_json::array();
  for (const HiddenHead& head : circuit.hidden) {
    result["hidden"].push_back(
        {{"player", profile.players[head.player]},
         {"hidden_by_ablation", head.by_ablation},
         {"partner", head.partner ? ordered_json(profile.players[*head.partner]) : ordered_json(nullptr)}});
  }
  return result.dump();
}

std::string circuit_text(const Profile& profile, const Circuit& circuit) {
  std::string text = fmt::format(
      "\n{}\n\nPatching one {} at a time: restore it into the ablated set (the gain alone), ablate it in the "
      "intact model (the last gain)\n",
      circuit.about, circuit.groups ? "player" : "head");
  constexpr std::size_t kMostHeads = 30;
  const bool roles =
      std::any_of(circuit.role.begin(), circuit.role.end(), [](const auto& r) { return r.has_value(); });
  const char* role = roles ? "role" : "";
  TextRows heads{{circuit.groups ? "player" : "head", role, "restore", "ablate", "synergy"}};
  std::vector<std::uint32_t> order(profile.players.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto size = [&](std::uint32_t i) {
    const FeatureProfile& f = profile.features[i];
    return std::max(
        {std::abs(f.pi.value.value_or(0)), std::abs(f.last.value.value_or(0)), f.S.value.value_or(0)});
  };
  if (order.size() > kMostHeads) {
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) > size(b); });
    order.resize(kMostHeads);
  }
  for (const std::uint32_t i : order) {
    const FeatureProfile& f = profile.features[i];
    heads.push_back({short_name(profile.players[i]), short_name(circuit.role[i].value_or(roles ? "-" : "")),
                     cell(f.pi.value), cell(f.last.value), cell(f.S.value)});
  }
  text += aligned(heads, {true, true, false, false, false});
  TextRows ranks{{"Spearman with", "restore", "ablate"}};
  for (const Circuit::Ranks& rank : circuit.ranks)
    ranks.push_back({rank.quantity, correlation(rank.restore), correlation(rank.ablate)});
  ranks.push_back({"restore", "", correlation(circuit.restore_ablate)});
  text += "\n" + aligned(ranks, {true, false, false});
  if (!circuit.role_pairs.empty()) {
    TextRows pairs{{"roles", "", "pairs", "synergy", "redundant"}};
    for (const RolePair& pair : circuit.role_pairs) {
      pairs.push_back({short_name(pair.first), short_name(pair.second), fmt::format("{}", pair.pairs),
                       cell(pair.S), cell(pair.R)});
    }
    text += fmt::format("\nMeans over pairs of {} by role\n", circuit.groups ? "players" : "heads") +
            aligned(pairs, {true, true, false, false, false});
  }
  for (const HiddenHead& head : circuit.hidden) {
    text += fmt::format(
        "\n{} is invisible to restoring it alone{}, but works together with others{}",
        short_name(profile.players[head.player]), head.by_ablation ? " and to ablating it alone" : "",
        head.partner ? fmt::format(", most with {}", short_name(profile.players[*head.partner])) : "");
  }
  return text + (circuit.hidden.empty() ? "" : "\n");
}

}  // namespace hifi
