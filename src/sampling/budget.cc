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

// No statement is made from fewer draws or coalitions.
constexpr std::uint64_t kMinDraws = 32;
constexpr std::uint64_t kMinCoalitions = 64;
constexpr std::uint64_t kGoodDraws = 128;

// A search keeps and scans its coalitions: what a budget pays beyond goes into draws.
constexpr std::uint64_t kMostSearched = 100'000;
// Fewer coalitions find little: below, draws are given up for them.
constexpr std::uint64_t kFewSearched = 1'000;

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
      budget.per_instance ? "share the contexts of a search among the instances with --amortise"
                          : "choose players with --features or merge them with --groups");
}

}  // namespace

bool enumerates(const Budget& budget) {
  if (budget.exact || budget.exhaustive) return true;
  if (budget.players > kMaxExactPlayers) return false;
  if (budget.per_instance) {
    const auto rows = static_cast<double>(budget.instances * std::min(kMinDraws, budget.background_rows));
    return std::ldexp(rows, static_cast<int>(budget.players)) <= static_cast<double>(budget.evaluations);
  }
  const double pairs = static_cast<double>(budget.instances) * static_cast<double>(budget.background_rows);
  const auto fits = [&](std::uint64_t draws) {
    const double needed =
        std::ldexp(std::min(pairs, static_cast<double>(draws)), static_cast<int>(budget.players));
    return needed <= static_cast<double>(budget.evaluations);
  };
  return fits(kGoodDraws) || std::uint64_t{1} << budget.players <= kMinCoalitions;
}

SearchChoice choose_search(const Budget& budget, const SearchPairs& pairs) {
  const std::uint64_t fewest = std::min({kMinDraws, pairs.search, pairs.report});
  const std::uint64_t least = kMinCoalitions * fewest;
  if (budget.evaluations < least) {
    throw input_error(
        fmt::format("a budget of {} evaluations is too small for any statement: {} coalitions x {} "
                    "draws need {}",
                    budget.evaluations, kMinCoalitions, fewest, least),
        "raise --budget");
  }
  const std::uint64_t wanted = std::max<std::uint64_t>(kFewSearched, 8 * budget.players);
  const std::uint64_t pairs_of_both = std::min(pairs.search, pairs.report);
  std::uint64_t draws = std::clamp(budget.evaluations / wanted, fewest, std::min(kGoodDraws, pairs_of_both));
  std::uint64_t coalitions = budget.evaluations / draws;
  if (coalitions > kMostSearched) {
    coalitions = kMostSearched;
    draws = std::min(pairs_of_both, budget.evaluations / coalitions);
  }
  SearchChoice choice;
  choice.search.split = pairs.split;
  choice.search.draws = choice.draws = draws;
  choice.search.reported = pairs.split ? coalitions / 4 : 0;
  choice.search.coalitions = coalitions - choice.search.reported;
  // Sums by up to 96 blocks, in the store, as a lattice and as noise; coalitions with their hash tables.
  const std::uint64_t cells = pairs.split ? choice.search.reported : choice.search.coalitions;
  choice.memory_bytes = 97 * (8 + 8 + 4) * cells + coalitions * (120 + budget.players / 2) +
                        16 * kUnitEvaluations + budget.table_bytes;
  choice.run_file_bytes = 8 * 97 * cells + coalitions * (80 + budget.players);
  if (choice.memory_bytes <= budget.max_memory) return choice;
  throw input_error(fmt::format("a search of {} coalitions needs {} of memory, more than --max-memory {}",
                                coalitions, human_bytes(choice.memory_bytes), human_bytes(budget.max_memory)),
                    "raise --max-memory or lower --budget");
}

std::uint64_t choose_amortised(const Budget& budget, SearchChoice& choice) {
  const std::uint64_t fewest = std::min(kMinDraws, budget.background_rows);
  const std::uint64_t least = 2 * kMinCoalitions * fewest * budget.instances;
  if (budget.evaluations < least) {
    throw input_error(
        fmt::format("a budget of {} evaluations is too small for {} instances: {} coalitions x {} draws "
                    "for each, and as much for the search, need {}",
                    budget.evaluations, budget.instances, kMinCoalitions, fewest, least),
        "raise --budget or give fewer rows");
  }
  const std::uint64_t each = budget.evaluations / 2 / budget.instances;
  const std::uint64_t most = choice.search.split ? choice.search.reported : choice.search.coalitions;
  const std::uint64_t good = std::min(kGoodDraws, budget.background_rows);
  const std::uint64_t draws = std::clamp(each / most, fewest, good);
  choice.search.instance_coalitions = std::min(most, each / draws);
  const std::uint64_t bytes = 8 * 34 * choice.search.instance_coalitions * budget.instances;
  choice.memory_bytes += bytes;
  choice.run_file_bytes += bytes;
  return draws;
}

PaperPlan choose_paper(const Budget& budget) {
  if (budget.players < 2) throw input_error("--policy paper: diamonds need two players");
  const double pairs = static_cast<double>(budget.instances) * static_cast<double>(budget.background_rows);
  PaperPlan paper{.evaluations = budget.evaluations,
                  .range_draws = static_cast<std::uint64_t>(std::min(pairs, static_cast<double>(kMinDraws)))};
  paper.ranges = static_cast<std::uint64_t>(pairs) / paper.range_draws;
  paper.slices = paper.range_draws % 8 == 0 ? 8 : paper.range_draws;
  const std::uint64_t least = (2 * budget.players + 2) * paper.range_draws;
  if (budget.evaluations < least) {
    throw input_error(
        fmt::format("a budget of {} evaluations is too small for --policy paper: the {} coalitions it starts "
                    "with x {} draws need {}",
                    budget.evaluations, 2 * budget.players + 2, paper.range_draws, least),
        "raise --budget");
  }
  const std::uint64_t bytes = paper_bytes(budget, paper);
  if (bytes > budget.max_memory) {
    throw input_error(fmt::format("{} visits need {} of memory, more than --max-memory {}",
                                  budget.evaluations / paper.range_draws, human_bytes(bytes),
                                  human_bytes(budget.max_memory)),
                      "raise --max-memory or lower --budget");
  }
  return paper;
}

std::uint64_t paper_bytes(const Budget& budget, const PaperPlan& paper) {
  // Visits with their slices, twice: in the store and in the result; and the policy's own tables.
  const std::uint64_t visit = 2 * (80 + 8 * paper.slices + budget.players / 4) + 200;
  return budget.evaluations / paper.range_draws * visit + 16 * kUnitEvaluations + budget.table_bytes;
}

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
  const std::uint64_t least = budget.per_instance
                                  ? budget.instances * std::min(kMinDraws, budget.background_rows)
                                  : std::min(kMinDraws, pairs);
  const double needed = std::ldexp(static_cast<double>(least), static_cast<int>(budget.players));
  if (!budget.exact && needed > static_cast<double>(budget.evaluations)) {
    throw input_error(
        fmt::format(
            "a budget of {} evaluations is too small for {} players: 2^{} coalitions x {} draws need {:.0f}",
            budget.evaluations, budget.players, budget.players, least, needed),
        budget.per_instance
            ? "raise --budget, or share the contexts of a search among the instances with --amortise"
            : "raise --budget, choose players with --features or merge them with --groups");
  }
  DrawChoice choice;
  choice.draws = budget.exact ? pairs : std::min(pairs, budget.evaluations >> budget.players);
  if (budget.per_instance) choice.draws -= choice.draws % budget.instances;
  // Fewer blocks where memory is short; below 8 there is nothing to estimate an error from.
  for (const std::size_t blocks : {32U, 16U, 8U}) {
    choice.blocks = blocks;
    const std::size_t instance = std::min<std::uint64_t>(blocks, std::min(budget.instances, choice.draws));
    const std::size_t background = std::min<std::uint64_t>(blocks, budget.background_rows);
    const std::size_t round = choice.draws == pairs ? 0 : std::min<std::uint64_t>(blocks, choice.draws);
    const std::size_t kept = instance + background + round + 1;
    choice.memory_bytes = static_cast<std::uint64_t>(
                              lattice_bytes(budget.players, lattice_arrays(instance, background, round))) +
                          (budget.engine_bytes != 0 ? budget.engine_bytes : 16 * kUnitEvaluations) +
                          budget.table_bytes;
    choice.run_file_bytes = static_cast<std::uint64_t>(lattice_bytes(budget.players, kept));
    if (budget.per_instance) {
      const std::size_t own = (round > 0 ? round : background) + 1;
      const auto rows = static_cast<std::uint64_t>(lattice_bytes(budget.players, own)) * budget.instances;
      choice.memory_bytes += rows;
      choice.run_file_bytes += rows;
    }
    if (choice.memory_bytes <= budget.max_memory) return choice;
  }
  throw input_error(
      fmt::format("2^{} coalitions x {} draws need {} of memory, more than --max-memory {}", budget.players,
                  choice.draws, human_bytes(choice.memory_bytes), human_bytes(budget.max_memory)),
      "raise --max-memory or merge players with --groups");
}

}  // namespace hifi
