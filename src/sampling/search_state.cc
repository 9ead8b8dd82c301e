#include "sampling/search_state.h"

#include <algorithm>
#include <numbers>

namespace hifi {

namespace {

// Players join with one probability; a random number serves two of them.
class Coins {
 public:
  Coins(RandomStream& random, double probability) : random_(random), limit_(std::ldexp(probability, 32)) {}
  bool operator()() {
    if (unused_ == 0) {
      bits_ = random_.next_u64();
      unused_ = 2;
    }
    --unused_;
    const auto half = static_cast<std::uint32_t>(bits_);
    bits_ >>= 32;
    return half < limit_;
  }

 private:
  RandomStream& random_;
  double limit_;
  std::uint64_t bits_ = 0;
  int unused_ = 0;
};

}  // namespace

SearchState::SearchState(const SearchOptions& options_, const EvaluateCoalitions& evaluate)
    : options(options_),
      store(options_.players, options_.budget, options_.seed, evaluate),
      random(options_.seed, Purpose::search),
      strongest(options_.players),
      best_gain(options_.players),
      quiet_tests(options_.players) {}

double SearchState::tolerance() const {
  const double range = store.highest() - store.lowest();
  const double rounding = options.rounding * std::max(std::abs(store.highest()), std::abs(store.lowest()));
  // Every evaluation may be compared with another one: of `budget` differences of pure noise, none should
  // count.
  const double errors = std::sqrt(2 * std::log(20 * static_cast<double>(options.budget)));
  return std::max({.01 * range, rounding, std::max(4.0, errors) * std::numbers::sqrt2 * options.sigma});
}

void SearchState::note_gain(std::uint32_t player, const Coalition& context, double gain) {
  strongest[player] = std::max(strongest[player], std::abs(gain));
  for (const int side : {0, 1}) {
    BestContext& best = best_gain[player][static_cast<std::size_t>(side)];
    const double value = side == 0 ? gain : -gain;
    // Rounding must not make a context look better than its equal.
    if (value <= best.value + 1e-9 * std::abs(best.value)) continue;
    best = {.value = value, .context = context.without(player)};
  }
}

void SearchState::note_delta(std::uint32_t first, std::uint32_t second, const Coalition& context,
                             double delta) {
  if (std::abs(delta) <= pair_tolerance()) return;
  BestContext& best = best_delta[std::minmax(first, second)][delta > 0 ? 0 : 1];
  if (std::abs(delta) <= best.value * (1 + 1e-9)) return;
  best = {.value = std::abs(delta), .context = context.without(first).without(second)};
}

PlayerList SearchState::active(std::size_t most) const {
  PlayerList players;
  const double least = tolerance();
  for (std::uint32_t i = 0; i < strongest.size(); ++i) {
    if (strongest[i] > least) players.push_back(i);
  }
  std::ranges::stable_sort(players,
                           [&](std::uint32_t a, std::uint32_t b) { return strongest[a] > strongest[b]; });
  if (players.size() > most) players.resize(most);
  return players;
}

std::size_t SearchState::count_active() const {
  const double least = tolerance();
  return static_cast<std::size_t>(std::ranges::count_if(strongest, [&](double s) { return s > least; }));
}

PlayerList SearchState::inactive() const {
  PlayerList players;
  const double least = tolerance();
  for (std::uint32_t i = 0; i < strongest.size(); ++i) {
    if (strongest[i] <= least) players.push_back(i);
  }
  return players;
}

PlayerList SearchState::component(std::uint32_t player, std::span<const std::uint32_t> among) const {
  std::vector<bool> open(options.players);
  for (const std::uint32_t i : among) open[i] = true;
  open[player] = false;
  PlayerList found{player};
  for (std::size_t k = 0; k < found.size(); ++k) {
    for (const auto& [pair, best] : best_delta) {
      if (pair.first != found[k] && pair.second != found[k]) continue;
      const std::uint32_t other = pair.first == found[k] ? pair.second : pair.first;
      if (!open[other]) continue;
      open[other] = false;
      found.push_back(other);
    }
  }
  std::ranges::sort(found);
  return found;
}

void SearchState::randomise(Coalition& coalition, std::span<const std::uint32_t> players) {
  Coins joins(random, random.uniform());
  for (const std::uint32_t i : players) {
    if (joins()) {
      coalition.insert(i);
    } else {
      coalition.erase(i);
    }
  }
}

PlayerList SearchState::random_part(std::span<const std::uint32_t> players) {
  Coins joins(random, random.uniform());
  PlayerList part;
  for (const std::uint32_t i : players) {
    if (joins()) part.push_back(i);
  }
  return part;
}

void SearchState::shuffle(PlayerList& players) {
  for (std::size_t i = players.size(); i > 1; --i) std::swap(players[i - 1], players[random.below(i)]);
}

}  // namespace hifi
