#include <fmt/format.h>

#include <bit>

#include "experiments/e3_results.h"
#include "stats/correlation.h"

namespace hifi {

namespace {

std::string titled(const E3Data& data, const std::string& what) {
  return fmt::format("{} [{}]", what, data.model);
}

const PaperHead* find_paper(const PaperCircuit* paper, const std::string& head) {
  if (paper == nullptr) return nullptr;
  for (const PaperHead& known : paper->heads) {
    if (known.head == head) return &known;
  }
  return nullptr;
}

// Of a quantity of every seed's player.
ResultCell over(const E3Reading& reading, std::size_t player, Quantity FeatureProfile::*quantity) {
  return ResultCell::over(reading.over_seeds(
      [&](const HeadTable& table) { return *(table.scan.features[player].*quantity).value; }));
}

std::vector<double> list(const HeadTable& table, Quantity FeatureProfile::*quantity) {
  std::vector<double> values;
  for (const FeatureProfile& f : table.scan.features) values.push_back(*(f.*quantity).value);
  return values;
}

// Of all blocks of a seed; blocks come in the same order for all seeds.
ResultCell block_over(const E3Reading& reading, std::size_t block, double RolePair::*channel) {
  return ResultCell::over(reading.over_seeds(
      [&](const HeadTable& table) { return role_pairs(table.scan.pairs, reading.roles)[block].*channel; }));
}

ResultCell rank_agreement(const std::vector<double>& a, const std::vector<double>& b) {
  const auto found = spearman(a, b);
  return found ? ResultCell(found->value) : ResultCell();
}

}  // namespace

const PaperRolePair* find_paper(const PaperCircuit* paper, const RolePair& block) {
  if (paper == nullptr) return nullptr;
  for (const PaperRolePair& known : paper->role_pairs) {
    if ((known.first == block.first && known.second == block.second) ||
        (known.first == block.second && known.second == block.first)) {
      return &known;
    }
  }
  return nullptr;
}

std::string block_name(const RolePair& block) {
  return block.first == block.second ? block.first + " within" : block.first + " + " + block.second;
}

ResultTable e3_overview(const E3Data& data) {
  ResultTable table{
      .key = "e3_readings",
      .title = titled(data, "Loss (minus the logit difference) with no head and with all heads"),
      .columns = {"reading", "LayerNorm", "players", "L({})", "L(all)", "correct"}};
  for (const auto& [plain, frozen] : data.readings) {
    for (const E3Reading* reading : {&plain, &frozen}) {
      table.add({reading->title, reading->frozen ? "frozen" : "plain",
                 static_cast<double>(reading->heads.size()),
                 ResultCell::over(reading->over_seeds([](const HeadTable& t) { return t.empty(); })),
                 ResultCell::over(reading->over_seeds([](const HeadTable& t) { return t.full(); })),
                 ResultCell::over(reading->over_seeds([](const HeadTable& t) { return t.correct; }))});
    }
  }
  table.note =
      "Heads that are no players stay intact. correct: share of prompts on which the intact model prefers "
      "the answer.";
  return table;
}

ResultTable e3_heads(const E3Data& data, const E3Reading& reading) {
  ResultTable table{.key = "e3_heads_" + reading.key + (reading.frozen ? "_frozen" : ""),
                    .title = titled(data, fmt::format("Heads: {}{}", reading.title,
                                                      reading.frozen ? ", final LayerNorm frozen" : "")),
                    .columns = {"head", "role"}};
  const PaperCircuit* paper = reading.paper;
  const std::vector<std::pair<std::string, Quantity FeatureProfile::*>> quantities = {
      {"U", &FeatureProfile::U},
      {"R", &FeatureProfile::R},
      {"S", &FeatureProfile::S},
      {"pi", &FeatureProfile::pi}};
  for (const auto& [name, quantity] : quantities) {
    table.columns.push_back(name);
    if (paper != nullptr) table.columns.push_back(name + " paper");
  }
  table.columns.push_back("last");
  for (std::size_t i = 0; i < reading.heads.size(); ++i) {
    std::vector<ResultCell> row = {reading.heads[i], reading.roles[i]};
    const PaperHead* known = find_paper(paper, reading.heads[i]);
    const std::vector<double> theirs =
        known ? std::vector{known->U, known->R, known->S, known->pi} : std::vector<double>();
    for (std::size_t q = 0; q < quantities.size(); ++q) {
      row.push_back(over(reading, i, quantities[q].second));
      if (paper != nullptr) row.push_back(known ? ResultCell(theirs[q]) : ResultCell());
    }
    row.push_back(over(reading, i, &FeatureProfile::last));
    table.add(std::move(row));
  }
  table.note = "pi: restore the head alone; last: ablate it alone in the intact model.";
  return table;
}

std::vector<RolePair> mean_role_pairs(const E3Reading& reading) {
  std::vector<RolePair> mean;
  for (const HeadTable& table : reading.seeds) {
    const auto blocks = role_pairs(table.scan.pairs, reading.roles);
    if (mean.empty()) mean = std::vector<RolePair>(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      mean[b].first = blocks[b].first;
      mean[b].second = blocks[b].second;
      mean[b].pairs = blocks[b].pairs;
      mean[b].S += blocks[b].S / static_cast<double>(reading.seeds.size());
      mean[b].R += blocks[b].R / static_cast<double>(reading.seeds.size());
    }
  }
  return mean;
}

ResultTable e3_role_pairs(const E3Data& data, const E3Reading& plain, const E3Reading& frozen) {
  ResultTable table{.key = "e3_roles_" + plain.key, .title = titled(data, "Pairs by role: " + plain.title)};
  table.columns = {"roles", "pairs", "S", "R"};
  if (plain.paper != nullptr) table.columns.insert(table.columns.end(), {"S paper", "R paper"});
  table.columns.insert(table.columns.end(), {"S frozen", "R frozen"});
  const auto blocks = mean_role_pairs(plain);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::vector<ResultCell> row = {block_name(blocks[b]), static_cast<double>(blocks[b].pairs),
                                   block_over(plain, b, &RolePair::S), block_over(plain, b, &RolePair::R)};
    if (plain.paper != nullptr) {
      const PaperRolePair* known = find_paper(plain.paper, blocks[b]);
      row.push_back(known ? ResultCell(known->S) : ResultCell());
      row.push_back(known ? ResultCell(known->R) : ResultCell());
    }
    row.push_back(block_over(frozen, b, &RolePair::S));
    row.push_back(block_over(frozen, b, &RolePair::R));
    table.add(std::move(row));
  }
  table.note = "Means over the pairs of two roles. frozen: final LayerNorm with the scale of the intact run.";
  return table;
}

ResultTable e3_pairs(const E3Data& data, const E3Reading& plain, const E3Reading& frozen) {
  ResultTable table{.key = "e3_pairs_" + plain.key,
                    .title = titled(data, "Pairs: " + plain.title),
                    .columns = {"first", "second", "S", "R", "S frozen", "R frozen"},
                    .printed = false};
  for (std::size_t p = 0; p < plain.seeds.front().scan.pairs.size(); ++p) {
    const PairProfile& pair = plain.seeds.front().scan.pairs[p];
    const auto cell = [&](const E3Reading& reading, Quantity PairProfile::*channel) {
      return ResultCell::over(
          reading.over_seeds([&](const HeadTable& t) { return *(t.scan.pairs[p].*channel).value; }));
    };
    table.add({plain.heads[pair.first], plain.heads[pair.second], cell(plain, &PairProfile::S),
               cell(plain, &PairProfile::R), cell(frozen, &PairProfile::S), cell(frozen, &PairProfile::R)});
  }
  return table;
}

ResultTable e3_patching(const E3Data& data) {
  ResultTable table{.key = "e3_patching",
                    .title = titled(data, "What single-head patching sees"),
                    .columns = {"reading", "LayerNorm", "rank pi, ablate", "rank Lmax, restore",
                                "rank Lmax, ablate", "unseen by restoring, in most seeds"}};
  for (const auto& [plain, frozen] : data.readings) {
    for (const E3Reading* reading : {&plain, &frozen}) {
      const auto agreement = [&](Quantity FeatureProfile::*a, Quantity FeatureProfile::*b) {
        std::vector<double> values;
        for (const HeadTable& t : reading->seeds) {
          if (const auto found = spearman(list(t, a), list(t, b))) values.push_back(found->value);
        }
        return ResultCell::over(values);
      };
      std::vector<std::size_t> votes(reading->heads.size());
      for (const HeadTable& t : reading->seeds) {
        for (const std::size_t player : invisible_players(t)) ++votes[player];
      }
      std::string unseen;
      for (std::size_t i = 0; i < votes.size(); ++i) {
        if (2 * votes[i] > reading->seeds.size()) unseen += (unseen.empty() ? "" : " ") + reading->heads[i];
      }
      table.add({reading->title, reading->frozen ? "frozen" : "plain",
                 agreement(&FeatureProfile::pi, &FeatureProfile::last),
                 agreement(&FeatureProfile::Lmax, &FeatureProfile::pi),
                 agreement(&FeatureProfile::Lmax, &FeatureProfile::last), unseen.empty() ? "none" : unseen});
    }
  }
  table.note =
      "Spearman over heads. restore = pi, one head put back into the ablated set (their correlation of 1 is "
      "an identity); ablate = "
      "last, one head taken from the intact model. Unseen: pi below 1 % of the range of the losses, S above "
      "10 %.";
  return table;
}

ResultTable e3_stability(const E3Data& data, Workers& workers) {
  ResultTable table{.key = "e3_stability",
                    .title = titled(data, "Other choices of heads: rank agreement of S - R by role pair"),
                    .columns = {"change", "role pairs", "rank agreement"}};
  const E3Reading& reading = data.readings.front().first;
  const auto blocks = mean_role_pairs(reading);
  const auto compare = [&](const std::string& change, const std::vector<RolePair>& others) {
    std::vector<double> ours, theirs;
    for (const RolePair& a : blocks) {
      for (const RolePair& b : others) {
        if (block_name(a) != block_name(b)) continue;
        ours.push_back(a.S - a.R);
        theirs.push_back(b.S - b.R);
      }
    }
    table.add({change, static_cast<double>(ours.size()), rank_agreement(ours, theirs)});
  };
  for (std::size_t i = 0; i < reading.heads.size(); ++i) {
    E3Reading rest{.heads = reading.heads, .roles = reading.roles};
    rest.heads.erase(rest.heads.begin() + static_cast<std::ptrdiff_t>(i));
    rest.roles.erase(rest.roles.begin() + static_cast<std::ptrdiff_t>(i));
    for (const HeadTable& t : reading.seeds) rest.seeds.push_back(without_player(t, i, workers));
    compare(reading.heads[i] + " stays intact", mean_role_pairs(rest));
  }
  for (const auto& [change, other] : data.replaced) compare(change, mean_role_pairs(other));
  table.note = fmt::format("Of the reading \"{}\", means over seeds.{}", reading.title,
                           reading.paper != nullptr ? " The paper reports agreement above 0.9." : "");
  return table;
}

ResultTable e3_saturation(const E3Data& data, const std::string& role) {
  const auto& [plain, frozen] = data.readings.back();
  ResultTable table{
      .key = "e3_saturation",
      .title = titled(data, fmt::format("Logit difference with k heads of role {}, all others intact", role)),
      .columns = {"kept", "plain", "frozen"}};
  std::size_t movers = 0;
  for (std::size_t i = 0; i < plain.roles.size(); ++i) movers |= std::size_t{plain.roles[i] == role} << i;
  const std::size_t all = (std::size_t{1} << plain.heads.size()) - 1;
  for (int kept = 0; kept <= std::popcount(movers); ++kept) {
    const auto mean = [&](const HeadTable& t) {
      double sum = 0, count = 0;
      for (std::size_t mask = 0; mask <= all; ++mask) {
        if ((mask | movers) != all || std::popcount(mask & movers) != kept) continue;
        sum -= t.losses[mask];
        count += 1;
      }
      return sum / count;
    };
    table.add({static_cast<double>(kept), ResultCell::over(plain.over_seeds(mean)),
               ResultCell::over(frozen.over_seeds(mean))});
  }
  table.note = "Mean over all choices of k heads. frozen: final LayerNorm with the scale of the intact run.";
  return table;
}

}  // namespace hifi
