// Sentences made from the numbers: what was found, and where it differs from what the paper says.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/e3_results.h"
#include "stats/correlation.h"

namespace hifi {

namespace {

const RolePair* find(const std::vector<RolePair>& blocks, const std::string& a, const std::string& b) {
  for (const RolePair& block : blocks) {
    if ((block.first == a && block.second == b) || (block.first == b && block.second == a)) return &block;
  }
  return nullptr;
}

std::string ratio(double larger, double smaller) {
  return larger > 1000 * smaller ? "more than 1,000 times" : fmt::format("{:.1f} times", larger / smaller);
}

// Mean over heads of a role and over seeds.
double mean_of(const E3Reading& reading, const std::string& role, Quantity FeatureProfile::*quantity) {
  double sum = 0, count = 0;
  for (const HeadTable& table : reading.seeds) {
    for (std::size_t i = 0; i < reading.heads.size(); ++i) {
      if (reading.roles[i] != role) continue;
      sum += *(table.scan.features[i].*quantity).value;
      count += 1;
    }
  }
  return count > 0 ? sum / count : std::nan("");
}

std::pair<std::size_t, std::size_t> signs(const std::vector<PairProfile>& pairs) {
  std::size_t synergy = 0, redundancy = 0;
  for (const PairProfile& pair : pairs) {
    if (!pair.S.value || !pair.R.value) continue;
    synergy += *pair.S.value > *pair.R.value;
    redundancy += *pair.S.value < *pair.R.value;
  }
  return {synergy, redundancy};
}

// The pair with the largest mean over seeds of S - R, times sign.
std::string strongest_pair(const E3Reading& reading, double sign) {
  const auto& pairs = reading.seeds.front().scan.pairs;
  double best = -INFINITY;
  std::string name;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    double mean = 0;
    for (const HeadTable& table : reading.seeds)
      mean += *table.scan.pairs[p].S.value - *table.scan.pairs[p].R.value;
    mean /= static_cast<double>(reading.seeds.size());
    if (sign * mean > best) {
      best = sign * mean;
      name = fmt::format("{} with {} (S - R {:+.3f})", reading.heads[pairs[p].first],
                         reading.heads[pairs[p].second], mean);
    }
  }
  return name;
}

std::string within_roles(const std::vector<RolePair>& blocks) {
  std::string redundant, synergistic;
  for (const RolePair& block : blocks) {
    if (block.first != block.second) continue;
    std::string& list = block.R > block.S ? redundant : synergistic;
    list += (list.empty() ? "" : ", ") + block.first;
  }
  return fmt::format("redundancy-dominated within: {}; synergy-dominated within: {}",
                     redundant.empty() ? "none" : redundant, synergistic.empty() ? "none" : synergistic);
}

}  // namespace

std::vector<std::string> e3_small_notes(const E3Data& data) {
  std::vector<std::string> notes = {
      "The paper's tables are about GPT-2-small, whose weights do not come with hifi: with its folder from "
      "the hub, `hifi reproduce "
      "e3 --model DIR` prints ours beside theirs. The tables above are about another model, so no figure of "
      "the paper stands beside them."};
  const auto& [all, all_frozen] = data.readings.front();
  const auto blocks = mean_role_pairs(all), frozen_blocks = mean_role_pairs(all_frozen);
  const RolePair *movers = find(blocks, "Mover", "Mover"), *chain = find(blocks, "Collector", "Mover");
  if (movers == nullptr || chain == nullptr || data.readings.size() < 2) return notes;
  const auto& [upper, upper_frozen] = data.readings.back();
  notes.push_back(
      fmt::format("Two steps show as two channels: movers replace each other (within the role R {:.2f} is {} "
                  "S), collectors and "
                  "movers need each other (S {:.2f} is {} R).",
                  movers->R, ratio(movers->R, movers->S), chain->S, ratio(chain->S, chain->R)));
  const RolePair* frozen_movers = find(frozen_blocks, "Mover", "Mover");
  notes.push_back(fmt::format(
      "Most redundancy of the movers is the final LayerNorm, whose scale grows with what they write: with "
      "the scale of the "
      "intact run R between movers is {:.2f} instead of {:.2f}, and their logit differences add up. Which "
      "reading is meant must be said.",
      frozen_movers->R, movers->R));
  notes.push_back(
      fmt::format("Which heads are players decides what R can show: with all heads absent a mover restored "
                  "alone has nothing to move "
                  "(mean pi {:.2f}, R {:.2f}); with layer 0 intact it has (mean pi {:.2f}, R {:.2f}).",
                  mean_of(all, "Mover", &FeatureProfile::pi), mean_of(all, "Mover", &FeatureProfile::R),
                  mean_of(upper, "Mover", &FeatureProfile::pi), mean_of(upper, "Mover", &FeatureProfile::R)));
  return notes;
}

std::vector<std::string> e3_gpt2_notes(const E3Data& data) {
  const auto& [plain, frozen] = data.readings.front();
  std::vector<std::string> notes = {
      "The paper does not give its templates, its names, or whether a begin token stood before the prompts. "
      "Ours: balanced ABBA and "
      "BABA templates of one length, <|endoftext|> first, mean ablation by position. Equal figures cannot "
      "be expected."};
  if (plain.paper != nullptr) {
    std::string agreement;
    const std::vector<std::tuple<const char*, Quantity FeatureProfile::*, double PaperHead::*>> channels = {
        {"U", &FeatureProfile::U, &PaperHead::U},
        {"R", &FeatureProfile::R, &PaperHead::R},
        {"S", &FeatureProfile::S, &PaperHead::S},
        {"pi", &FeatureProfile::pi, &PaperHead::pi}};
    for (const auto& [name, quantity, theirs] : channels) {
      std::vector<double> x, y;
      for (const PaperHead& known : plain.paper->heads) {
        const auto at = std::find(plain.heads.begin(), plain.heads.end(), known.head);
        if (at == plain.heads.end()) continue;
        double sum = 0;
        for (const HeadTable& t : plain.seeds)
          sum += *(t.scan.features[static_cast<std::size_t>(at - plain.heads.begin())].*quantity).value;
        x.push_back(sum);
        y.push_back(known.*theirs);
      }
      const auto found = spearman(x, y);
      agreement += fmt::format("{}{} {}", agreement.empty() ? "" : ", ", name,
                               found ? fmt::format("{:.2f}", found->value) : "-");
    }
    notes.push_back("Spearman of ours with the paper's column over the ten heads: " + agreement + ".");
    std::vector<RolePair> theirs;
    for (const PaperRolePair& p : plain.paper->role_pairs)
      theirs.push_back({p.first, p.second, p.pairs, p.S, p.R});
    notes.push_back(
        "\"Within-role blocks are redundancy-dominated\" (the paper's caption). In the paper's own table: " +
        within_roles(theirs) + ". Ours: " + within_roles(mean_role_pairs(plain)) + ".");
    const auto [synergy, redundancy] = signs(plain.seeds.front().scan.pairs);
    notes.push_back(fmt::format(
        "Pairs with S > R and with R > S: {} and {} of ours in the first seed, {} and {} in the paper.",
        synergy, redundancy, plain.paper->synergy_pairs, plain.paper->redundancy_pairs));
    notes.push_back(
        fmt::format("Strongest pairs of ours: {}; {}. The paper names 5.5 with 7.3 (+0.193) as the strongest "
                    "synergy, though the mean of "
                    "its block Induction + S-Inhibition is 0.383 - 0.003.",
                    strongest_pair(plain, 1), strongest_pair(plain, -1)));
  }
  notes.push_back(
      "Spearman(pi, activation patching) = 1 in the paper is an identity: its patching score restores one "
      "head into the ablated set, "
      "which is pi. Patching as it is usually done ablates one head of the intact model (`last`); the table "
      "has its agreement.");
  if (data.map) {
    const auto [synergy, redundancy] = signs(data.map->profile.pairs);
    notes.push_back(
        fmt::format("2^{} coalitions cannot be enumerated and the paper does not say which it took. Ours are "
                    "{} searched coalitions: U is an "
                    "upper bound, R and S lower bounds. Pairs with S > R and with R > S: {} and {} of ours, "
                    "{} and {} in the paper.",
                    data.map->heads.size(), data.map->profile.coverage.coalitions, synergy, redundancy,
                    data.map->paper->synergy_pairs, data.map->paper->redundancy_pairs));
  }
  return notes;
}

}  // namespace hifi
