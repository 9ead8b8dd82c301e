#include "sampling/search_hidden.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sampling/search_chains.h"

namespace hifi {

namespace {

constexpr std::size_t kContexts = 4;
constexpr std::size_t kSets = 2 * kContexts;  // two per context
constexpr double kCrowdedContexts = .25;      // share of contexts that hold all inactive players
constexpr int kQuestionsPerContext = 4;

Coalition flip_all(Coalition coalition, const PlayerList& players) {
  for (const std::uint32_t i : players) flip(coalition, i);
  return coalition;
}

void run_round(SearchState& state) {
  const PlayerList active = state.active(), others = state.inactive();
  if (others.empty()) return;
  std::vector<Coalition> wanted(kContexts, state.empty());
  for (Coalition& context : wanted) {
    state.randomise(context, active);
    if (state.random.uniform() < kCrowdedContexts) context = flip_all(std::move(context), others);
  }
  std::array<PlayerList, kSets> sets;
  for (std::size_t k = 0; k < kSets; ++k) {
    sets[k] = state.random_part(others);
    wanted.push_back(flip_all(wanted[k % kContexts], sets[k]));
  }
  const std::vector<double> loss = state.store.losses(wanted);
  const double least = state.tolerance();
  std::size_t strongest = 0;
  std::array<double, kSets> change{};
  for (std::size_t k = 0; k < kSets; ++k) {
    change[k] = std::abs(loss[kContexts + k] - loss[k % kContexts]);
    if (change[k] > change[strongest]) strongest = k;
    if (change[k] > least) continue;
    for (const std::uint32_t i : sets[k]) ++state.quiet_tests[i];
  }
  if (change[strongest] <= least) return;
  state.shuffle(sets[strongest]);
  bisect_chain(state, wanted[strongest % kContexts], sets[strongest], 1, SIZE_MAX);
}

}  // namespace

std::size_t run_group_tests(SearchState& state, std::size_t rounds, std::size_t patience, std::size_t stop) {
  const std::size_t before = state.count_active();
  std::size_t quiet = 0, seen = before;
  for (std::size_t round = 0; round < rounds && quiet < patience && state.store.size() < stop; ++round) {
    run_round(state);
    const std::size_t now = state.count_active();
    quiet = now > seen ? 0 : quiet + 1;
    seen = now;
  }
  return seen - std::min(seen, before);
}

PlayerList ResidualCheck::crowd(SearchState& state, const Coalition& context, bool leave) {
  PlayerList players = state.inactive();
  std::erase_if(players, [&](std::uint32_t i) { return context.contains(i) != leave; });
  state.shuffle(players);
  return players;
}

// One batch for what all questions need first. A player that is found changes the coalitions of all later
// questions, so this pays only when none is expected.
void ResidualCheck::prefetch(SearchState& state, const std::vector<Question>& questions) {
  std::vector<Coalition> wanted;
  for (const Question& q : questions) {
    const Coalition& context = state.best_gain[q.player][q.sign].context;
    const auto known = answered_.find(q);
    if (known != answered_.end() && known->second.active == state.count_active() &&
        known->second.context == context) {
      continue;
    }
    PlayerList players = state.inactive();
    std::erase_if(players, [&](std::uint32_t i) { return context.contains(i) != q.leave; });
    if (players.empty()) continue;
    const Coalition other = flip_all(context, players);
    for (const Coalition& c : {context, other}) {
      wanted.push_back(c);
      wanted.push_back(c.with(q.player));
    }
  }
  state.store.losses(wanted);
}

bool ResidualCheck::ask(SearchState& state, const Question& question) {
  const Coalition context = state.best_gain[question.player][question.sign].context;
  Answered& last = answered_[question];
  if (last.context == context && last.active == state.count_active()) return false;
  last = {.context = context, .active = state.count_active()};
  const PlayerList players = crowd(state, context, question.leave);
  if (players.empty()) return false;
  const auto at = [&](std::size_t length) {
    Coalition c = context;
    for (std::size_t k = 0; k < length; ++k) flip(c, players[k]);
    return c;
  };
  const auto gain = [&](std::size_t length) { return state.store.gain(question.player, at(length)); };
  std::size_t low = 0, high = players.size();
  double gain_low = gain(low), gain_high = gain(high);
  if (std::abs(gain_low - gain_high) <= state.pair_tolerance()) return false;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    const double g = gain(middle);
    if (std::abs(g - gain_low) >= std::abs(g - gain_high)) {
      high = middle;
      gain_high = g;
    } else {
      low = middle;
      gain_low = g;
    }
  }
  const std::uint32_t i = question.player, j = players[low];
  const Coalition corner = at(low).without(j);
  const double alone = state.store.gain(j, corner), beside = state.store.gain(j, corner.with(i));
  state.note_gain(j, corner, alone);
  state.note_gain(j, corner.with(i), beside);
  state.note_delta(i, j, corner, beside - alone);
  return true;
}

std::size_t ResidualCheck::run(SearchState& state) {
  std::size_t found = 0;
  std::vector<Question> questions;
  for (const std::uint32_t i : state.active()) {
    for (const std::size_t sign : {0U, 1U}) {
      if (!std::isfinite(state.best_gain[i][sign].value)) continue;
      for (const bool leave : {true, false}) questions.push_back({i, sign, leave});
    }
  }
  if (quiet_) prefetch(state, questions);
  for (const Question& question : questions) {
    for (int k = 0; k < kQuestionsPerContext && ask(state, question); ++k) ++found;
  }
  quiet_ = found == 0;
  return found;
}

}  // namespace hifi
