#include "experiments/e3_measure.h"

#include <algorithm>

#include "game/circuit_game.h"

namespace hifi {

HeadTable measure_heads(const Gpt2& model, const PromptTask& task, const std::vector<std::string>& heads,
                        bool frozen, Workers& workers) {
  CircuitGame game(model, task, players_from_heads(heads, model.config().layers, model.config().heads),
                   {.freeze_norm = frozen}, workers);
  const std::size_t coalitions = std::size_t{1} << heads.size(), prompts = task.prompts.size();
  std::vector<Draw> draws(prompts);
  for (std::size_t p = 0; p < prompts; ++p) draws[p].instance = static_cast<std::uint32_t>(p);
  std::vector<double> single(prompts * coalitions);
  game.losses(CoalitionList::lattice(heads.size(), 0, coalitions), draws, single, workers);

  HeadTable table{.players = heads.size(), .losses = std::vector<double>(coalitions)};
  for (std::size_t p = 0; p < prompts; ++p) {
    for (std::size_t c = 0; c < coalitions; ++c) table.losses[c] += single[p * coalitions + c];
    if (single[(p + 1) * coalitions - 1] < 0) table.correct += 1;
  }
  for (double& loss : table.losses) loss /= static_cast<double>(prompts);
  table.correct /= static_cast<double>(prompts);
  table.scan = scan_dense(table.players, table.losses, {.tie_tolerance = 5e-5}, workers);
  return table;
}

HeadTable without_player(const HeadTable& table, std::size_t player, Workers& workers) {
  HeadTable rest{.players = table.players - 1, .correct = table.correct};
  for (std::size_t mask = 0; mask < table.losses.size(); ++mask) {
    if ((mask >> player) & 1U) rest.losses.push_back(table.losses[mask]);
  }
  rest.scan = scan_dense(rest.players, rest.losses, {.tie_tolerance = 5e-5}, workers);
  return rest;
}

std::vector<RolePair> role_pairs(const std::vector<PairProfile>& pairs,
                                 const std::vector<std::string>& roles) {
  std::vector<RolePair> blocks;
  for (const PairProfile& pair : pairs) {
    if (!pair.S.value || !pair.R.value) continue;
    const std::string &a = roles[pair.first], &b = roles[pair.second];
    auto block = std::find_if(blocks.begin(), blocks.end(), [&](const RolePair& known) {
      return (known.first == a && known.second == b) || (known.first == b && known.second == a);
    });
    if (block == blocks.end()) block = blocks.insert(blocks.end(), {.first = a, .second = b});
    ++block->pairs;
    block->S += *pair.S.value;
    block->R += *pair.R.value;
  }
  for (RolePair& block : blocks) {
    block.S /= static_cast<double>(block.pairs);
    block.R /= static_cast<double>(block.pairs);
  }
  return blocks;
}

std::vector<std::size_t> invisible_players(const HeadTable& table) {
  const auto [low, high] = std::minmax_element(table.losses.begin(), table.losses.end());
  const double range = *high - *low;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < table.players; ++i) {
    const FeatureProfile& f = table.scan.features[i];
    if (*f.pi.value<0.01 * range&& * f.S.value> 0.1 * range) found.push_back(i);
  }
  return found;
}

}  // namespace hifi
