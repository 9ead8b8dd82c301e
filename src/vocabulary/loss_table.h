// A vocabulary from a table: columns `coalition` (bit string, first character = first player) and `loss`,
// optionally `k` and `var`.
#pragma once

#include <string>
#include <vector>

#include "hifi/coalition.h"

namespace hifi {

struct LossTable {
  std::vector<std::string> players;
  std::vector<Coalition> coalitions;  // distinct
  std::vector<double> losses;
  std::vector<double> draws;      // column k, or empty
  std::vector<double> variances;  // column var, or empty

  bool has_noise() const { return !draws.empty() && !variances.empty(); }
  bool complete() const {
    return players.size() < 63 && coalitions.size() == std::size_t{1} << players.size();
  }
};

// `players` may be empty: x1..xn then. Throws Error(input) naming the row: bit strings of unequal length,
// other characters, a coalition twice, a missing or infinite loss, k < 1, var < 0, a list of players of
// another length.
LossTable read_loss_table(const std::string& path, const std::vector<std::string>& players);

}  // namespace hifi
