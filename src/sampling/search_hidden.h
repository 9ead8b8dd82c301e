// Players that chains from {} to the full set did not meet: their effect needs a context.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "sampling/search_state.h"

namespace hifi {

// Rounds of random contexts on the active players, into which random sets of the others enter (or leave) at
// once; the strongest change is bisected. Twelve evaluations make eight tests. Ends after `rounds`, or after
// `patience` rounds without a new active player, or when the store holds `stop` coalitions. Returns how many
// were found.
std::size_t run_group_tests(SearchState& state, std::size_t rounds, std::size_t patience,
                            std::size_t stop = SIZE_MAX);

// Does the gain of an active player at its best contexts survive when all inactive players leave, or all
// enter? If not, some of them matter to it: bisect on the gain.
class ResidualCheck {
 public:
  // Returns how many players were found.
  std::size_t run(SearchState& state);

 private:
  struct Question {
    std::uint32_t player;
    std::size_t sign;
    bool leave;
    bool operator<(const Question& other) const {
      return std::tie(player, sign, leave) < std::tie(other.player, other.sign, other.leave);
    }
  };
  struct Answered {
    Coalition context;
    std::size_t active = 0;
  };
  // What flips: the inactive players that are in (or not in) the context.
  PlayerList crowd(SearchState& state, const Coalition& context, bool leave);
  void prefetch(SearchState& state, const std::vector<Question>& questions);
  bool ask(SearchState& state, const Question& question);

  std::map<Question, Answered> answered_;
  bool quiet_ = false;  // the last run found nobody
};

}  // namespace hifi
