#include "sampling/speed.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "hifi/error.h"
#include "vocabulary/lattice.h"

namespace hifi {

namespace {

constexpr std::size_t kLatticePlayers = 16;
constexpr std::size_t kKnownLatticePlayers = 24;
constexpr std::size_t kProbeCoalitions = 256;

std::vector<Coalition> random_coalitions(std::size_t players, std::uint64_t seed) {
  std::vector<Coalition> result;
  RandomStream random(seed, Purpose::probe);
  for (std::size_t k = 0; k < kProbeCoalitions; ++k) {
    Coalition c(players);
    for (std::size_t i = 0; i < players; ++i) {
      if (random.uniform() < .5) c.insert(i);
    }
    result.push_back(c);
  }
  return result;
}

}  // namespace

double evaluations_per_second(Game& game, DrawOptions options, bool knows_lattices, const ProbeLimit& limit,
                              Workers& workers) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t pairs = std::uint64_t{options.instances} * options.background_rows;
  options.draws = std::min<std::uint64_t>(pairs, 32);
  const DrawPlan plan(options);
  const bool lattice = game.players() <= (knows_lattices ? kKnownLatticePlayers : kLatticePlayers);
  const std::size_t coalitions = lattice ? std::size_t{1} << game.players() : kProbeCoalitions;
  const std::vector<Coalition> list =
      lattice ? std::vector<Coalition>{} : random_coalitions(game.players(), options.seed);
  BlockSums sums = zero_sums(lattice ? coalitions : 0, 1, 0);
  double rate = 0;
  for (std::size_t count = 1, next = 0;; count *= 2) {
    std::vector<Draw> draws;
    for (std::size_t k = 0; k < count; ++k, ++next) {
      draws.push_back(plan.at(next % pairs));
      draws.back().background_block = 0;  // one array is enough
    }
    const auto start = Clock::now();
    if (lattice) {
      game.accumulate(draws, sums, workers);
    } else {
      std::vector<double> losses(coalitions * count);
      game.losses(CoalitionList::of(game.players(), list), draws, losses, workers);
    }
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    rate = static_cast<double>(coalitions * count) / std::max(took, 1e-9);
    if (3 * took > limit.seconds || 2 * coalitions * count > limit.evaluations) return rate;
  }
}

double parse_time(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || scale == 0 || !(value > 0) || !std::isfinite(value)) {
    throw Error(ErrorCode::usage, fmt::format("--time {}: must be a positive time like 30s, 5m or 2h", text));
  }
  return value * scale;
}

}  // namespace hifi
