#include "audit/circuit_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/audit.h"
#include "audit/profile.h"
#include "report/circuit.h"
#include "report/text_table.h"
#include "stats/correlation.h"

namespace hifi {

namespace {

using nlohmann::ordered_json;

struct Lists {
  std::vector<double> x, y;

  void add(const std::optional<double>& a, const std::optional<double>& b) {
    if (!a || !b) return;
    x.push_back(*a);
    y.push_back(*b);
  }
  std::optional<double> ranks() const {
    const auto found = spearman(x, y);
    return found ? std::optional(found->value) : std::nullopt;
  }
};

std::optional<double> balance(const PairProfile& pair) {
  if (!pair.S.value || !pair.R.value) return std::nullopt;
  return *pair.S.value - *pair.R.value;
}

// By names, since positions differ between the two.
using Names = std::pair<std::string, std::string>;
std::map<Names, std::optional<double>> balances(const Profile& profile) {
  std::map<Names, std::optional<double>> result;
  for (const PairProfile& pair : profile.pairs) {
    const auto [first, second] = std::minmax(profile.players[pair.first], profile.players[pair.second]);
    result[{first, second}] = balance(pair);
  }
  return result;
}

std::map<Names, std::optional<double>> role_balances(const Profile& profile) {
  std::map<Names, std::optional<double>> result;
  const auto circuit = circuit_of(profile);
  for (const RolePair& pair : circuit->role_pairs) result[{pair.first, pair.second}] = pair.S - pair.R;
  return result;
}

Lists common(const std::map<Names, std::optional<double>>& a,
             const std::map<Names, std::optional<double>>& b) {
  Lists lists;
  for (const auto& [names, value] : a) {
    const auto found = b.find(names);
    if (found != b.end()) lists.add(value, found->second);
  }
  return lists;
}

void compare(const Profile& profile, const Profile& other, SubsetCheck& check) {
  Lists heads;
  for (std::size_t i = 0; i < profile.players.size(); ++i) {
    const auto found = std::find(other.players.begin(), other.players.end(), profile.players[i]);
    if (found == other.players.end()) continue;
    heads.add(profile.features[i].Lmax.value,
              other.features[static_cast<std::size_t>(found - other.players.begin())].Lmax.value);
  }
  check.heads = heads.ranks();
  const Lists pairs = common(balances(profile), balances(other));
  check.pairs = pairs.ranks();
  if (!pairs.x.empty()) {
    std::size_t same = 0;
    for (std::size_t k = 0; k < pairs.x.size(); ++k) same += (pairs.x[k] > 0) == (pairs.y[k] > 0) ? 1U : 0U;
    check.same_sign = static_cast<double>(same) / static_cast<double>(pairs.x.size());
  }
  check.roles = common(role_balances(profile), role_balances(other)).ranks();
}

ordered_json number(const std::optional<double>& x) { return x ? ordered_json(*x) : ordered_json(nullptr); }
std::string cell(const std::optional<double>& x) { return x ? fmt::format("{:.2f}", *x) : "-"; }

}  // namespace

std::vector<SubsetCheck> plan_subset_checks(const Profile& profile) {
  std::vector<SubsetCheck> checks;
  if (profile.players.size() < 3) return checks;  // two players have no rest that could change
  for (const std::string& player : profile.players) checks.push_back({.left_out = player});
  const auto provenance = ordered_json::parse(profile.provenance, nullptr, false);
  for (const auto& [role, heads] : provenance.at("circuit").at("roles").items()) {
    std::optional<std::string> spare;
    for (const auto& head : heads) {
      const bool plays =
          std::find(profile.players.begin(), profile.players.end(), head) != profile.players.end();
      if (!plays && !spare) spare = head.get<std::string>();
    }
    for (const auto& head : heads) {
      const bool plays =
          std::find(profile.players.begin(), profile.players.end(), head) != profile.players.end();
      if (plays && spare) checks.push_back({.left_out = head.get<std::string>(), .instead = spare});
    }
  }
  return checks;
}

void run_subset_checks(const ExplainRequest& request, const Profile& profile,
                       std::vector<SubsetCheck>& checks, Workers& workers,
                       const std::function<void(const SubsetCheck&)>& tell) {
  for (SubsetCheck& check : checks) {
    tell(check);
    ExplainRequest other = request;
    other.heads.clear();
    for (const std::string& player : profile.players) {
      if (player != check.left_out) {
        other.heads.push_back(player);
      } else if (check.instead) {
        other.heads.push_back(*check.instead);
      }
    }
    Audit audit(other, {}, workers);
    const RunResult result = audit.run(nullptr, {});
    compare(profile, make_profile(audit.plan(), result, "all", workers), check);
  }
}

std::string subset_checks_json(const std::vector<SubsetCheck>& checks) {
  ordered_json list = ordered_json::array();
  for (const SubsetCheck& check : checks) {
    list.push_back({{"left_out", check.left_out},
                    {"instead", check.instead ? ordered_json(*check.instead) : ordered_json(nullptr)},
                    {"spearman_heads", number(check.heads)},
                    {"spearman_pairs", number(check.pairs)},
                    {"same_sign", number(check.same_sign)},
                    {"spearman_role_pairs", number(check.roles)}});
  }
  return list.dump();
}

std::string subset_checks_text(const std::vector<SubsetCheck>& checks) {
  if (checks.empty()) return "\nOther sets of heads: none were tried, it takes three players or more\n";
  TextRows rows{{"left out", "instead", "heads", "pairs", "same sign", "roles"}};
  for (const SubsetCheck& check : checks) {
    rows.push_back({short_name(check.left_out), short_name(check.instead.value_or("-")), cell(check.heads),
                    cell(check.pairs), cell(check.same_sign), cell(check.roles)});
  }
  return "\nOther sets of heads: Spearman of Lmax by head, of S - R by pair and by pair of roles, and the "
         "share of "
         "pairs whose S - R keeps its sign\n" +
         aligned(rows, {true, true, false, false, false, false});
}

}  // namespace hifi
