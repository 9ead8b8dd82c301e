#include "sampling/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hifi/error.h"
#include "sampling/exhaustive.h"
#include "vocabulary/lattice.h"

namespace hifi {

namespace {

// No statement is made from fewer draws.
constexpr std::uint64_t kMinDraws = 32;

double lattice_bytes(std::size_t players, std::size_t arrays) {
  return std::ldexp(8.0 * static_cast<double>(arrays), static_cast<int>(players));
}

[[noreturn]] void too_many_players(const Budget& budget, double pairs) {
  const double draws = budget.exact ? pairs : std::min(pairs, static_cast<double>(kMinDraws));
  const double evaluations = std::ldexp(draws, static_cast<int>(budget.players));
  const double memory = lattice_bytes(budget.players, lattice_arrays(8, 8, 0));
  throw input_error(
      fmt::format("{} players are too many{}: 2^{} coalitions x {} {} are {:.3g} evaluations and {:.3g} GB "
                  "of memory; the limit is {} players",
                  budget.players, budget.exact ? " for --exact" : "", budget.players, draws,
                  budget.exact ? "pairs" : "draws", evaluations, memory / 1e9, kMaxExactPlayers),
      "choose players with --features or merge them with --groups");
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 || value >= 10 ? 0 : 1, kUnits[unit]);
}

DrawChoice choose_draws(const Budget& budget) {
  const double pairs_real =
      static_cast<double>(budget.instances) * static_cast<double>(budget.background_rows);
  if (budget.players > kMaxExactPlayers) too_many_players(budget, pairs_real);
  const std::uint64_t pairs = budget.instances * budget.background_rows;
  const std::uint64_t least = std::min(kMinDraws, pairs);
  const double needed = std::ldexp(static_cast<double>(least), static_cast<int>(budget.players));
  if (!budget.exact && needed > static_cast<double>(budget.evaluations)) {
    throw input_error(
        fmt::format(
            "a budget of {} evaluations is too small for {} players: 2^{} coalitions x {} draws need {:.0f}",
            budget.evaluations, budget.players, budget.players, least, needed),
        "raise --budget, choose players with --features or merge them with --groups");
  }
  DrawChoice choice;
  choice.draws = budget.exact ? pairs : std::min(pairs, budget.evaluations >> budget.players);
  // Fewer blocks where memory is short; below 8 there is nothing to estimate an error from.
  for (const std::size_t blocks : {32U, 16U, 8U}) {
    choice.blocks = blocks;
    const std::size_t instance = std::min<std::uint64_t>(blocks, std::min(budget.instances, choice.draws));
    const std::size_t background = std::min<std::uint64_t>(blocks, budget.background_rows);
    const std::size_t round = choice.draws == pairs ? 0 : std::min<std::uint64_t>(blocks, choice.draws);
    const std::size_t kept = instance + background + round + 1;
    choice.memory_bytes = static_cast<std::uint64_t>(
                              lattice_bytes(budget.players, lattice_arrays(instance, background, round))) +
                          16 * kUnitEvaluations + budget.table_bytes;
    choice.run_file_bytes = static_cast<std::uint64_t>(lattice_bytes(budget.players, kept));
    if (choice.memory_bytes <= budget.max_memory) return choice;
  }
  throw input_error(
      fmt::format("2^{} coalitions x {} draws need {} of memory, more than --max-memory {}", budget.players,
                  choice.draws, human_bytes(choice.memory_bytes), human_bytes(budget.max_memory)),
      "raise --max-memory or merge players with --groups");
}

}  // namespace hifi
