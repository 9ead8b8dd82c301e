// The lattice of a set of heads on one set of prompts, and what is read from it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "data/task_file.h"
#include "decomposition/scan.h"
#include "model/gpt2_weights.h"
#include "report/circuit.h"

namespace hifi {

struct HeadTable {
  std::size_t players = 0;
  std::vector<double> losses;  // of each coalition, mean over prompts; bit i = player i
  ScanResult scan;
  double correct = 0;  // share of prompts on which the intact model prefers the answer

  double empty() const { return losses.front(); }
  double full() const { return losses.back(); }
};

// All coalitions of the heads under mean ablation, losses are negative logit differences; `frozen` reads them
// with the final LayerNorm's scale of the intact run. Throws Error(input) where model, task and heads do not
// fit.
HeadTable measure_heads(const Gpt2& model, const PromptTask& task, const std::vector<std::string>& heads,
                        bool frozen, Workers& workers);

// The table when one player stays intact instead: the coalitions that have it.
HeadTable without_player(const HeadTable& table, std::size_t player, Workers& workers);

// Means over the pairs of two roles, or within one, in the order of their first pairs.
// `roles` of the players, by position. Pairs of which nothing was seen do not count.
std::vector<RolePair> role_pairs(const std::vector<PairProfile>& pairs,
                                 const std::vector<std::string>& roles);

// Heads that restoring alone does not show but that matter in company: pi below 1 % of the range of the
// losses, S above 10 %.
std::vector<std::size_t> invisible_players(const HeadTable& table);

}  // namespace hifi
