#include "report/stress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/findings.h"
#include "report/text_table.h"

namespace hifi {

namespace {

constexpr const char* kUnresolved = "unresolved";

// What a pair shows for certain: channels whose lower end is above the threshold; none if both upper ends are
// not.
std::string pair_says(const PairProfile& pair, const Profile& profile) {
  const double e = profile.coverage.threshold.value_or(0);
  const auto sure = [e](const Quantity& q) { return q.low.value_or(-1) > e; };
  const auto absent = [e](const Quantity& q) { return q.high && *q.high <= e; };
  if (sure(pair.S) && sure(pair.R)) return "both";
  if (sure(pair.S)) return "synergy";
  if (sure(pair.R)) return "redundancy";
  return absent(pair.S) && absent(pair.R) ? "none" : kUnresolved;
}

Outcome outcome_of(const std::vector<std::string>& says) {
  std::string decided;
  bool open = false;
  for (const std::string& word : says) {
    if (word == kUnresolved) {
      open = true;
    } else if (decided.empty()) {
      decided = word;
    } else if (word != decided) {
      return Outcome::flips;
    }
  }
  return open ? Outcome::undecided : Outcome::survives;
}

const char* outcome_name(Outcome outcome) {
  return outcome == Outcome::survives ? "survives" : outcome == Outcome::flips ? "flips" : "undecided";
}

const PairProfile* find_pair(const Profile& profile, std::uint32_t first, std::uint32_t second) {
  for (const PairProfile& pair : profile.pairs)
    if (pair.first == first && pair.second == second) return &pair;
  return nullptr;
}

}  // namespace

std::vector<Conclusion> conclusions(const std::vector<BackgroundProfile>& profiles) {
  std::vector<Conclusion> result;
  const Profile& first = profiles.front().profile;
  for (std::uint32_t i = 0; i < first.features.size(); ++i) {
    Conclusion c{.players = {i}};
    for (const BackgroundProfile& p : profiles)
      c.says.push_back(p.profile.features[i].verdict.value_or(kUnresolved));
    result.push_back(std::move(c));
  }
  for (const PairProfile& pair : first.pairs) {
    Conclusion c{.players = {pair.first, pair.second}};
    for (const BackgroundProfile& p : profiles) {
      if (const PairProfile* found = find_pair(p.profile, pair.first, pair.second))
        c.says.push_back(pair_says(*found, p.profile));
    }
    if (c.says.size() == profiles.size()) result.push_back(std::move(c));
  }
  for (Conclusion& c : result) c.outcome = outcome_of(c.says);
  return result;
}

std::string stress_text(const std::vector<BackgroundProfile>& profiles) {
  const std::vector<std::string>& names = profiles.front().profile.players;
  std::string text = "\nunder other backgrounds\n\n";
  TextRows rows = {{"", "conclusion"}};
  std::vector<bool> left = {true, true};
  for (const BackgroundProfile& p : profiles) {
    rows.front().push_back(short_name(p.background));
    left.push_back(true);
  }
  std::size_t quiet = 0;  // pairs about which every background says the same nothing
  for (const Conclusion& c : conclusions(profiles)) {
    const bool nothing = c.players.size() == 2 && c.outcome != Outcome::flips &&
                         std::all_of(c.says.begin(), c.says.end(),
                                     [](const std::string& w) { return w == "none" || w == kUnresolved; });
    if (nothing) {
      ++quiet;
      continue;
    }
    std::string name;
    for (const std::uint32_t i : c.players) name += (name.empty() ? "" : " + ") + short_name(names[i]);
    rows.push_back({name, outcome_name(c.outcome)});
    rows.back().insert(rows.back().end(), c.says.begin(), c.says.end());
  }
  rows.push_back({"masked rows: distance to the data", "(data = 1)"});
  for (const BackgroundProfile& p : profiles)
    rows.back().push_back(p.off_distribution ? short_number(*p.off_distribution, 3) : "-");
  text += aligned(rows, left);
  for (const BackgroundProfile& p : profiles) {
    if (profiles.front().profile.coverage.exact.value_or(false) && !p.profile.coverage.exact.value_or(true)) {
      text += fmt::format("  {} is sampled: {} draws per coalition; its product cannot be enumerated\n",
                          short_name(p.background), p.profile.coverage.draws.value_or(0));
    }
  }
  if (quiet > 0) text += fmt::format("  {} pairs show nothing under any of them\n", quiet);
  return text;
}

std::string stress_json(const std::vector<BackgroundProfile>& profiles) {
  using Json = nlohmann::ordered_json;
  const std::vector<std::string>& names = profiles.front().profile.players;
  const auto number = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  Json backgrounds = Json::array();
  for (const BackgroundProfile& p : profiles) {
    Json features = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const FeatureProfile& f = p.profile.features[i];
      const auto q = [&](const Quantity& x) {
        return Json{{"value", number(x.value)}, {"low", number(x.low)}, {"high", number(x.high)}};
      };
      features.push_back({{"player", names[i]},
                          {"verdict", f.verdict ? Json(*f.verdict) : Json(nullptr)},
                          {"U", q(f.U)},
                          {"R", q(f.R)},
                          {"S", q(f.S)}});
    }
    backgrounds.push_back(
        {{"background", p.background},
         {"off_distribution", number(p.off_distribution)},
         {"exact", p.profile.coverage.exact ? Json(*p.profile.coverage.exact) : Json(nullptr)},
         {"draws", p.profile.coverage.draws ? Json(*p.profile.coverage.draws) : Json(nullptr)},
         {"features", features}});
  }
  Json list = Json::array();
  for (const Conclusion& c : conclusions(profiles)) {
    Json players = Json::array();
    for (const std::uint32_t i : c.players) players.push_back(names[i]);
    list.push_back({{"players", players}, {"says", c.says}, {"outcome", outcome_name(c.outcome)}});
  }
  return Json({{"backgrounds", backgrounds}, {"conclusions", list}}).dump();
}

}  // namespace hifi
