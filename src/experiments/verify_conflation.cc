// Theorem 1. The value of XOR(x1, x2, x3) at an instance, against a uniform background, is 1/2 until all
// three inputs are known and f(x) then: one Moebius term m = f(x) - 1/2 = +-1/2 on the three of them. So
// every index of a set of active players is m times a constant that depends on the index, the size and the
// maximum order:
//
//   order 1: every index but Moebius and BII gives a player m/3 (the Shapley value); BII m/4
//   order 2: pairs have m/2 under SII, BII, k-SII, FSII, kADD-SHAP and m/3 under STII, so +-1/4 and +-1/6:
//   the
//            "faithful" ones do not vanish here, as the paper has it
//   order 3: pairs vanish under k-SII, STII and FSII; SII, BII, kADD-SHAP stay at m/2
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "experiments/binary_game.h"
#include "experiments/verify.h"
#include "indices/indices.h"

namespace hifi {

namespace {

constexpr std::size_t kPlayers = 4;
constexpr std::uint32_t kSpectator = 3;
constexpr double kRounding = 1e-12;

// Worked out by hand from the definitions, as a multiple of m, for sets of 1, 2 and 3 active players.
struct Constants {
  double one, two, three;
};

Constants constants(IndexKind kind, std::size_t order) {
  constexpr double third = 1.0 / 3;
  switch (kind) {
    case IndexKind::moebius:
      return {0, 0, 1};
    case IndexKind::shapley:
      return {third, 0, 0};
    case IndexKind::shapley_interaction:
    case IndexKind::k_additive:
      return {third, .5, 1};
    case IndexKind::banzhaf:
      return {.25, .5, 1};
    case IndexKind::k_shapley:
    case IndexKind::faithful:
      if (order == 1) return {third, 0, 0};
      if (order == 2) return {-1.0 / 6, .5, 0};  // the three players and three pairs add up to m
      return {0, 0, 1};
    case IndexKind::shapley_taylor:
      if (order == 1) return {third, 0, 0};
      if (order == 2) return {0, third, 0};
      return {0, 0, 1};
  }
  return {};
}

// Keeps the value that is farthest from what is expected.
struct Worst {
  double expected = 0;
  double found = std::numeric_limits<double>::quiet_NaN();
  void see(double value) {
    if (std::isnan(found) || std::abs(value - expected) > std::abs(found - expected)) found = value;
  }
};

void check_index(IndexKind kind, std::size_t order, const Machinery& machinery, Checks& checks) {
  const auto sets = sets_up_to(kPlayers, kind == IndexKind::shapley ? 1 : order);
  const Constants c = constants(kind, order);
  std::vector<Worst> active = {
      {}, {.expected = c.one / 2}, {.expected = c.two / 2}, {.expected = c.three / 2}};
  Worst spectator;
  const BinaryModel model = parity_model();
  for (Bits x = 0; x < 16; ++x) {
    const double m = model.predict(x) - .5;
    const auto values = machinery.index(kind, kPlayers, order, model.prediction_losses(x));
    for (std::size_t k = 0; k < sets.size(); ++k) {
      const bool idle = sets[k].back() == kSpectator;
      (idle ? spectator : active[sets[k].size()]).see(idle ? values[k] : values[k] * (m > 0 ? 1 : -1));
    }
  }
  const std::string name = fmt::format("{} of order {}", index_name(kind), order);
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, sets.back().size()); ++size) {
    checks.equal(fmt::format("{}, {}, 16 instances, times the sign of f - 1/2", name,
                             size == 1   ? "active players"
                             : size == 2 ? "active pairs"
                                         : "the triple"),
                 active[size].expected, active[size].found, kRounding);
  }
  checks.equal(fmt::format("{}, sets with the spectator", name), 0, spectator.found, kRounding);
}

void check_channels(const Machinery& machinery, Checks& checks) {
  Worst unique, redundant, pair_redundancy, idle;
  Worst synergy{.expected = .5}, pair_synergy{.expected = .5};
  for (Bits x = 0; x < 16; ++x) {
    const ScanResult scan = machinery.decompose(kPlayers, parity_model().losses(x));
    for (std::uint32_t i = 0; i < kPlayers; ++i) {
      const FeatureProfile& f = scan.features[i];
      if (i == kSpectator) {
        for (const Quantity* q : {&f.U, &f.R, &f.S}) idle.see(*q->value);
        continue;
      }
      unique.see(*f.U.value);
      redundant.see(*f.R.value);
      synergy.see(*f.S.value);
    }
    for (const PairProfile& pair : scan.pairs) {
      const bool spectator = pair.second == kSpectator;
      (spectator ? idle : pair_synergy).see(*pair.S.value);
      (spectator ? idle : pair_redundancy).see(*pair.R.value);
    }
  }
  checks.equal("U of the active players, squared loss", 0, unique.found, kRounding);
  checks.equal("R of the active players", 0, redundant.found, kRounding);
  checks.equal("S of the active players", .5, synergy.found, kRounding);
  checks.equal("synergy of active pairs", .5, pair_synergy.found, kRounding);
  checks.equal("redundancy of active pairs", 0, pair_redundancy.found, kRounding);
  checks.equal("everything about the spectator", 0, idle.found, kRounding);
}

// A game where all mass is of order 3 hides nothing else: one with a pair and a single player does.
void check_mixed_game(const Machinery& machinery, Checks& checks) {
  // v = 2 [1] + 3 [23] - [123]: least squares that meet {} and the full set must add up to v(all) - v({}).
  std::vector<double> losses(8);
  for (Bits s = 0; s < 8; ++s) losses[s] = -(2.0 * (s & 1U) + 3.0 * ((s & 6U) == 6U) - 1.0 * (s == 7U)) - 5;
  for (std::size_t order = 1; order <= 3; ++order) {
    double sum = 0;
    for (const double value : machinery.index(IndexKind::faithful, 3, order, losses)) sum += value;
    checks.equal(fmt::format("FSII of order {} adds up to the whole game", order), 4, sum, kRounding);
  }
  const ScanResult scan = machinery.decompose(3, losses);
  checks.equal("U of a player worth 2 alone and 1 beside both others", 1, *scan.features[0].U.value,
               kRounding);
  checks.equal("R of the same", 1, *scan.features[0].R.value, kRounding);
  checks.equal("redundancy of its pairs", 1, *scan.pairs[0].R.value, kRounding);
}

}  // namespace

std::vector<Check> verify_conflation(const Machinery& machinery) {
  Checks checks("T1");
  for (std::size_t order = 1; order <= kPlayers; ++order) {
    for (const IndexKind kind : all_indices()) {
      if (kind == IndexKind::shapley && order > 1) continue;
      check_index(kind, order, machinery, checks);
    }
  }
  check_channels(machinery, checks);
  check_mixed_game(machinery, checks);
  return checks.list;
}

}  // namespace hifi
