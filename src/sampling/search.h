// Which coalitions to evaluate when 2^n is out of reach: a search for the players that matter, for their
// partners and for the contexts where their gains and pair differences are extreme. Step by step:
//
//   1 {} and the full set; both ends of all players if they cost at most an eighth of the budget
//   2 bisected chains find active players with about m log2(n/m) evaluations for m of them, not n
//   search_chains 3 no small set of active players: dense mode search_dense 4 group tests and residual checks
//   find players that hide                                        search_hidden 5 rows give the partners of
//   each active player; small components are enumerated                search_blocks 6 radius-2 balls at {}
//   and full, 7 the lattice of the strongest players of a large component 8 a loop: the ball around the best
//   context that is not yet expanded; now and then 4 and 5 again
//
// The search is a pure function of (options, losses): no threads, no clock. It proposes batches, never asks
// for a coalition twice and never for more than the budget.
//
// Limits: effects below the tolerance are invisible; an effect that shows at one pattern of k players only is
// found up to about k = 6 with 1,000 evaluations, 8 with 4,000 and 10 with 16,000. Extremes that were
// searched on noisy losses are biased: report from `selection`, evaluated again on fresh draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hifi/coalition.h"

namespace hifi {

// One finite loss per coalition, in their order.
using EvaluateCoalitions = std::function<std::vector<double>(std::span<const Coalition>)>;

struct SearchOptions {
  std::size_t players = 0;
  std::size_t budget = 0;  // coalitions; at least 2
  std::uint64_t seed = 0;
  double sigma = 0;        // standard error of one loss mean; 0: deterministic
  double rounding = 1e-9;  // differences below this share of max|L| are rounding of the model
  // At most this share of the budget looks for hidden players before partners are searched; with small
  // budgets the two compete.
  double hidden_share = .25;
  std::size_t paired_players = 32;  // pairs are selected among this many of the strongest active players
};

inline constexpr std::uint32_t kNoBlock = UINT32_MAX;

struct SearchedPlayer {
  bool active = false;             // some gain seen is larger than the tolerance
  double largest_gain = 0;         // absolute, over the contexts seen
  std::size_t contexts = 0;        // contexts with and without the player that were seen
  std::size_t quiet_tests = 0;     // sets that held the player and entered or left at once without effect
  bool ends_seen = false;          // {}, {i}, full and full minus i
  std::uint32_t block = kNoBlock;  // of SearchResult::blocks; active players only
};

// Players that interact, directly or through others, as far as was seen.
struct SearchedBlock {
  std::vector<std::uint32_t> players;
  // All patterns of the block were seen with every other player out, and with every other player in. Extremes
  // are then exact if the block is separable from the rest.
  bool enumerated_out = false;
  bool enumerated_in = false;
};

struct SelectedGain {
  std::uint32_t player = 0;
  Coalition context;
  double gain = 0;  // as searched: biased by the choice
};

struct SelectedPair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  Coalition context;
  double delta = 0;
};

// What a report on fresh draws needs.
struct Selection {
  std::vector<std::uint32_t> players;  // active, strongest first
  std::vector<SelectedGain> gains;  // for each of `players` the context of the least and of the largest gain
  std::vector<SelectedPair>
      pairs;  // the largest and the least Delta of each pair seen, largest |Delta| first
};

struct SearchResult {
  std::vector<Coalition> coalitions;  // in the order of evaluation
  std::vector<double> losses;
  double tolerance = 0;
  bool dense = false;         // no small set of active players
  bool budget_short = false;  // dense, and the budget is below 5 evaluations per player: merge players
  std::vector<SearchedPlayer> players;
  std::vector<SearchedBlock> blocks;
  Selection selection;
};

// Throws Error(bug) if the losses do not fit the question, Error(model) if one is not finite.
SearchResult search_coalitions(const SearchOptions& options, const EvaluateCoalitions& evaluate);

// {}, full, the ends of the selected players, the corners of their gains, then of the pairs, then the ends of
// all other players: each coalition once, no gain or pair in part, at most `most`.
std::vector<Coalition> selected_coalitions(std::size_t players, const Selection& selection, std::size_t most);

}  // namespace hifi
