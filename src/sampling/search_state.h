// What a search knows so far: the gains and pair differences that stand out, and the contexts where they do.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "sampling/search_store.h"

namespace hifi {

using PlayerList = std::vector<std::uint32_t>;

// The largest value of one sign that was seen, and where. Contexts hold none of the players concerned.
struct BestContext {
  double value = -INFINITY;
  Coalition context;
};

// Index 0: largest, index 1: largest negative.
using BestContexts = std::array<BestContext, 2>;

class SearchState {
 public:
  SearchState(const SearchOptions& options, const EvaluateCoalitions& evaluate);

  // A difference of two losses counts from here on. Ranges grow, so the tolerance does.
  double tolerance() const;
  // A difference of four losses, or of two gains.
  double pair_tolerance() const { return (options.sigma > 0 ? 1.5 : 1) * tolerance(); }

  // `context` may hold the players concerned; it is kept without them.
  void note_gain(std::uint32_t player, const Coalition& context, double gain);
  void note_delta(std::uint32_t first, std::uint32_t second, const Coalition& context, double delta);

  bool is_active(std::uint32_t player) const { return strongest[player] > tolerance(); }
  // Strongest first.
  PlayerList active(std::size_t most = SIZE_MAX) const;
  std::size_t count_active() const;
  PlayerList inactive() const;
  // Those of `among` that are connected to `player` by pairs that interact, in order, with `player`.
  PlayerList component(std::uint32_t player, std::span<const std::uint32_t> among) const;

  Coalition empty() const { return Coalition(options.players); }
  Coalition full() const { return Coalition::full(options.players); }
  // Each of `players` joins or leaves at random, with a density that is random too.
  void randomise(Coalition& coalition, std::span<const std::uint32_t> players);
  PlayerList random_part(std::span<const std::uint32_t> players);
  void shuffle(PlayerList& players);

  const SearchOptions options;
  SearchStore store;
  RandomStream random;
  std::vector<double> strongest;  // largest |gain| of each player
  std::vector<BestContexts> best_gain;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BestContexts> best_delta;  // pairs above tolerance only
  std::vector<std::size_t> quiet_tests;
  std::set<std::pair<PlayerList, bool>> enumerated;       // (sorted players, the others are in)
  std::unordered_set<Coalition, CoalitionHash> expanded;  // centres of balls
};

inline void flip(Coalition& coalition, std::size_t player) {
  coalition.set_word(player / 64, coalition.word(player / 64) ^ (std::uint64_t{1} << (player % 64)));
}
inline Coalition with_flip(Coalition coalition, std::size_t player) {
  flip(coalition, player);
  return coalition;
}

}  // namespace hifi
