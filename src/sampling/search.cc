#include "sampling/search.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "hifi/error.h"
#include "sampling/search_around.h"
#include "sampling/search_blocks.h"
#include "sampling/search_chains.h"
#include "sampling/search_dense.h"
#include "sampling/search_hidden.h"
#include "sampling/search_select.h"
#include "sampling/search_state.h"

namespace hifi {

namespace {

constexpr std::size_t kMostActive = 32;    // the ball of more would be too dear
constexpr std::size_t kFewNew = 8;         // evaluations of a round that has little left to learn
constexpr std::size_t kIdleRounds = 6;     // of them before the search turns to hidden players
constexpr std::size_t kGiveUpRounds = 64;  // rounds without any new coalition

class Search {
 public:
  Search(const SearchOptions& options, const EvaluateCoalitions& evaluate) : state_(options, evaluate) {}

  void run() {
    if (run_whole_lattice()) return;
    state_.store.losses(std::vector{state_.empty(), state_.full()});
    if (2 * state_.options.players + 2 <= state_.options.budget / 8) see_all_ends();
    if (!discover_by_chains(state_)) {
      dense_ = true;
      return search_dense(state_);
    }
    find_hidden();
    while (state_.count_active() == 0) {
      if (!hunt()) return;
    }
    study_active();
    while (idle_everything_ < kGiveUpRounds) loop_round();
  }

  SearchResult result() { return summarise_search(state_, dense_); }

 private:
  bool run_whole_lattice() {
    const std::size_t n = state_.options.players;
    if (n >= 30 || std::size_t{1} << n > state_.options.budget) return false;
    PlayerList all(n);
    for (std::uint32_t i = 0; i < n; ++i) all[i] = i;
    enumerate_block(state_, all, false);
    state_.enumerated.insert({all, true});  // there are no others
    return true;
  }

  void see_all_ends() {
    PlayerList all(state_.options.players);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    evaluate_ends(state_, all);
  }

  void find_hidden() {
    const auto share = state_.options.hidden_share * static_cast<double>(state_.options.budget);
    const std::size_t stop = state_.store.size() + static_cast<std::size_t>(share);
    residual_.run(state_);
    run_group_tests(state_, 20, 5, stop);
    residual_.run(state_);
  }

  // Group tests until somebody is found. False: no new coalitions come any more.
  bool hunt() {
    for (std::size_t idle = 0; idle < kGiveUpRounds;) {
      const std::size_t before = state_.store.size();
      if (run_group_tests(state_, 1, 1) > 0) return true;
      idle = state_.store.size() == before ? idle + 1 : 0;
    }
    return false;
  }

  // A ball should cost at most a quarter of what is left.
  void choose_active() {
    const double affordable = std::sqrt(static_cast<double>(state_.store.left()) / 2);
    most_active_ = static_cast<std::size_t>(std::clamp(affordable, 4., static_cast<double>(kMostActive)));
    active_ = state_.active(most_active_);
  }

  void study_active() {
    choose_active();
    evaluate_ends(state_, state_.active());
    find_partners(state_, active_);
    // One large component is often flat at both ends: first where it is not.
    if (largest_component(state_, active_).size() > kSmallBlock) {
      expand_best();
      expand_best();
    }
    expand(state_.empty());
    expand(state_.full());
    enumerate_strongest(state_, active_);
    enumerate_components(state_, active_);
    if (state_.store.left() > 3 * state_.options.players) see_all_ends();
  }

  void expand(const Coalition& centre) {
    if (state_.expanded.insert(centre).second) evaluate_ball(state_, centre, active_);
  }

  // The best context without a ball yet that serves most players and pairs. False: there is none.
  bool expand_best() {
    std::unordered_map<Coalition, std::size_t, CoalitionHash> votes;
    std::vector<const Coalition*> order;  // as met: the map has no order of its own
    const double least = state_.tolerance();
    const auto vote = [&](const BestContexts& best) {
      for (const BestContext& b : best) {
        if (b.value <= least || state_.expanded.contains(b.context)) continue;
        if (++votes[b.context] == 1) order.push_back(&b.context);
      }
    };
    const auto is_studied = [&](std::uint32_t i) { return std::ranges::find(active_, i) != active_.end(); };
    for (const std::uint32_t i : active_) vote(state_.best_gain[i]);
    for (const auto& [pair, best] : state_.best_delta) {
      if (is_studied(pair.first)) vote(best);
    }
    if (order.empty()) return false;
    const auto best = std::ranges::max_element(order, {}, [&](const Coalition* c) { return votes[*c]; });
    expand(Coalition(**best));
    return true;
  }

  void expand_random() {
    Coalition centre = state_.random.uniform() < .3 ? state_.full() : state_.empty();
    state_.randomise(centre, active_);
    expand(centre);
  }

  void loop_round() {
    const std::size_t before = state_.store.size();
    ++round_;
    if (idle_ > kIdleRounds) {
      idle_ = 0;
      hunt();
      revise();
    } else if (round_ % 8 == 0) {
      run_group_tests(state_, 2, 2);
    } else if (round_ % 4 == 0 || !expand_best()) {
      expand_random();
    }
    if (round_ % 6 == 0) revise();
    const std::size_t fresh = state_.store.size() - before;
    idle_ = fresh < kFewNew ? idle_ + 1 : 0;
    idle_everything_ = fresh == 0 ? idle_everything_ + 1 : 0;
  }

  // New active players: their ends and partners, and all balls again.
  void revise() {
    residual_.run(state_);
    const PlayerList now = state_.active(most_active_);
    const bool somebody_new = std::ranges::any_of(
        now, [&](std::uint32_t i) { return std::ranges::find(active_, i) == active_.end(); });
    if (somebody_new) {
      active_ = now;
      state_.expanded.clear();
      evaluate_ends(state_, active_);
      find_partners(state_, active_);
    }
    enumerate_components(state_, active_);
  }

  SearchState state_;
  ResidualCheck residual_;
  bool dense_ = false;
  PlayerList active_;
  std::size_t most_active_ = kMostActive;
  std::size_t round_ = 0, idle_ = 0, idle_everything_ = 0;
};

}  // namespace

SearchResult search_coalitions(const SearchOptions& options, const EvaluateCoalitions& evaluate) {
  if (options.players == 0 || options.budget < 2) {
    throw Error(ErrorCode::bug, "a search needs a player and a budget of two coalitions");
  }
  Search search(options, evaluate);
  try {
    search.run();
  } catch (const BudgetSpent&) {
  }
  return search.result();
}

}  // namespace hifi
