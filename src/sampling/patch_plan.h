// Which coalitions of patches an image is shown with: fixed before the first answer, the same for every
// image, so that images can be averaged coalition by coalition.
//
// A map needs what a patch brings alone, last and on average. All coalitions are taken if they fit; else {},
// all, every {i}, every all-minus-i, and with the rest permutation chains, each followed by its reverse
// (antithetic): the mean gain along chains is an unbiased estimate of the Shapley value, and every chain
// gives every patch one more context. The search of `sampling/search` is better at finding few players that
// interact in a crowd of idle ones; in an image every patch moves the answer a little, and the map wants all
// of them. It is taken where the ends of all patches would cost more than half of the budget (784 patches,
// 1,000 calls), since chains then say nothing. The paper's policy by name: both ends of every patch, then
// diamonds; its proposals do not look at losses, so they are fixed beforehand, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hifi/coalition.h"

namespace hifi {

enum class PatchPolicy { automatic, exhaustive, paper };

struct PatchPlan {
  enum class Kind { all, chains, search, paper };
  Kind kind = Kind::chains;
  std::vector<Coalition> coalitions;               // {} and all first; of a search these two alone
  std::vector<std::vector<std::uint32_t>> chains;  // orders of the patches
  std::size_t search = 0;                          // coalitions that a search may ask for
};

inline constexpr std::size_t kLeastCoalitions = 64;  // that any statement needs

// True if so many coalitions do not show both ends of every player twice over: then they are searched.
bool is_search(std::size_t players, std::uint64_t most);

// At most `most` coalitions; `apart` of them are kept for what is asked later (no use if all are taken).
// `grid` keeps the orders of several grids apart. REQUIRES: most >= min(2^players, kLeastCoalitions) + apart,
// 2^players if exhaustive, 2 players + 2 + apart if of the paper
PatchPlan plan_patches(std::size_t players, std::size_t most, std::size_t apart, std::uint64_t seed,
                       std::size_t grid, PatchPolicy policy = PatchPolicy::automatic);

// The mean gain of each player: along the chains, or over all orders (the Shapley value) of a complete list,
// or over the contexts seen (NaN: none). `losses` has a number for each of `coalitions`.
std::vector<double> mean_gains(std::size_t players, const PatchPlan& plan,
                               std::span<const Coalition> coalitions, std::span<const double> losses);

}  // namespace hifi
