#include "indices/indices.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "core/random.h"
#include "hifi/error.h"

namespace hifi {
namespace {

using Set = std::uint64_t;

std::vector<double> random_losses(std::size_t players, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::probe);
  std::vector<double> losses(std::size_t{1} << players);
  for (double& x : losses) x = stream.normal();
  return losses;
}

int size_of(Set s) { return std::popcount(s); }
double factorial(int k) { return std::tgamma(k + 1); }
double choose(int n, int k) { return std::round(factorial(n) / factorial(k) / factorial(n - k)); }

// The difference of v = -L at C by all players of S.
double difference(const std::vector<double>& losses, Set s, Set c) {
  double sum = 0;
  for (Set part = s;; part = (part - 1) & s) {
    sum += (size_of(s ^ part) % 2 == 0 ? -1 : 1) * losses[c | part];
    if (part == 0) return sum;
  }
}

// Definitions, context by context. STII by permutations is the derivative form of its paper.
double by_definition(IndexKind kind, const std::vector<double>& losses, int n, int order, Set s) {
  const int size = size_of(s);
  const Set others = (Set{1} << n) - 1 - s;
  if (kind == IndexKind::moebius || (kind == IndexKind::shapley_taylor && size < order))
    return difference(losses, s, 0);
  double sum = 0;
  for (Set c = others;; c = (c - 1) & others) {
    const int t = size_of(c);
    double weight = 0;
    if (kind == IndexKind::banzhaf) {
      weight = std::ldexp(1.0, size - n);
    } else if (kind == IndexKind::shapley_taylor) {
      weight = order / (n * choose(n - 1, t));
    } else {
      weight = factorial(n - t - size) * factorial(t) / factorial(n - size + 1);
    }
    sum += weight * difference(losses, s, c);
    if (c == 0) return sum;
  }
}

std::map<Set, double> by_set(const std::vector<double>& values, std::size_t players, std::size_t order) {
  const auto sets = sets_up_to(players, order);
  EXPECT_EQ(sets.size(), values.size());
  std::map<Set, double> result;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    Set mask = 0;
    for (const std::uint32_t i : sets[k]) mask |= Set{1} << i;
    result[mask] = values[k];
  }
  return result;
}

std::map<Set, double> index(IndexKind kind, const std::vector<double>& losses, std::size_t n,
                            std::size_t order) {
  return by_set(IndexSet({kind}, n, order).evaluate(losses)[0], n, kind == IndexKind::shapley ? 1 : order);
}

TEST(Indices, EqualTheirDefinitions) {
  for (int n = 1; n <= 7; ++n) {
    const auto losses = random_losses(static_cast<std::size_t>(n), 3);
    for (int order = 1; order <= n; ++order) {
      for (const IndexKind kind : {IndexKind::moebius, IndexKind::shapley, IndexKind::shapley_interaction,
                                   IndexKind::banzhaf, IndexKind::shapley_taylor}) {
        for (const auto& [set, value] :
             index(kind, losses, static_cast<std::size_t>(n), static_cast<std::size_t>(order))) {
          EXPECT_NEAR(value, by_definition(kind, losses, n, order, set), 1e-12)
              << index_name(kind) << " n " << n << " order " << order << " set " << set;
        }
      }
    }
  }
}

TEST(Indices, EqualTheirDefinitionsWhereTablesGoByBlocks) {
  constexpr int kPlayers = 15;
  const auto losses = random_losses(kPlayers, 4);
  for (const IndexKind kind :
       {IndexKind::moebius, IndexKind::shapley_interaction, IndexKind::shapley_taylor}) {
    for (const auto& [set, value] : index(kind, losses, kPlayers, 2)) {
      EXPECT_NEAR(value, by_definition(kind, losses, kPlayers, 2, set), 1e-11)
          << index_name(kind) << " set " << set;
    }
  }
}

// A solver for small dense systems: Gauss with pivoting.
std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t m = b.size();
  for (std::size_t p = 0; p < m; ++p) {
    std::size_t best = p;
    for (std::size_t r = p; r < m; ++r)
      if (std::abs(a[r][p]) > std::abs(a[best][p])) best = r;
    std::swap(a[p], a[best]);
    std::swap(b[p], b[best]);
    for (std::size_t r = p + 1; r < m; ++r) {
      const double factor = a[r][p] / a[p][p];
      for (std::size_t c = p; c < m; ++c) a[r][c] -= factor * a[p][c];
      b[r] -= factor * b[p];
    }
  }
  for (std::size_t p = m; p-- > 0;) {
    for (std::size_t c = p + 1; c < m; ++c) b[p] -= a[p][c] * b[c];
    b[p] /= a[p][p];
  }
  return b;
}

// The k-additive game that meets v at {} and the full set and is nearest to it under the Shapley kernel: the
// stationary point of the Lagrange function, {} first.
std::vector<double> constrained_fit(const std::vector<double>& losses, int n, int order) {
  std::vector<Set> sets = {0};
  for (const auto& list : sets_up_to(static_cast<std::size_t>(n), static_cast<std::size_t>(order))) {
    Set mask = 0;
    for (const std::uint32_t i : list) mask |= Set{1} << i;
    sets.push_back(mask);
  }
  const std::size_t m = sets.size();
  const Set full = (Set{1} << n) - 1;
  std::vector<std::vector<double>> a(m + 2, std::vector<double>(m + 2, 0.0));
  std::vector<double> b(m + 2, 0.0);
  for (Set w = 1; w < full; ++w) {
    const double kernel = (n - 1) / (choose(n, size_of(w)) * size_of(w) * (n - size_of(w)));
    for (std::size_t r = 0; r < m; ++r) {
      if ((sets[r] & ~w) != 0) continue;
      b[r] -= kernel * losses[w];
      for (std::size_t c = 0; c < m; ++c)
        if ((sets[c] & ~w) == 0) a[r][c] += kernel;
    }
  }
  for (std::size_t r = 0; r < m; ++r) a[r][m + 1] = a[m + 1][r] = 1;  // the full set
  a[0][m] = a[m][0] = 1;                                              // {}
  b[m] = -losses[0];
  b[m + 1] = -losses[full];
  return solve(a, b);
}

TEST(Indices, FaithfulOnesAreConstrainedLeastSquares) {
  for (int n = 2; n <= 6; ++n) {
    const auto losses = random_losses(static_cast<std::size_t>(n), 5);
    for (int order = 1; order < n; ++order) {
      const auto fit = constrained_fit(losses, n, order);
      const auto players = static_cast<std::size_t>(n);
      const auto sets = sets_up_to(players, static_cast<std::size_t>(order));
      const IndexSet both({IndexKind::faithful, IndexKind::k_additive}, players,
                          static_cast<std::size_t>(order));
      const auto values = both.evaluate(losses);
      std::map<Set, double> fitted;
      std::size_t k = 0;
      for (const auto& list : sets) {
        Set mask = 0;
        for (const std::uint32_t i : list) mask |= Set{1} << i;
        fitted[mask] = fit[1 + k];
        EXPECT_NEAR(values[0][k], fit[1 + k], 1e-9) << "FSII n " << n << " order " << order;
        ++k;
      }
      for (const auto& [set, value] : by_set(values[1], players, static_cast<std::size_t>(order))) {
        double sum = 0;  // the SII of the fit
        for (const auto& [larger, x] : fitted)
          if ((set & ~larger) == 0) sum += x / (size_of(larger) - size_of(set) + 1);
        EXPECT_NEAR(value, sum, 1e-9) << "kADD-SHAP n " << n << " order " << order << " set " << set;
      }
    }
  }
}

TEST(Indices, EfficientOnesAddUpToTheWholeGame) {
  for (std::size_t n = 1; n <= 8; ++n) {
    const auto losses = random_losses(n, 7);
    for (std::size_t order = 1; order <= n; ++order) {
      for (const IndexKind kind :
           {IndexKind::shapley, IndexKind::k_shapley, IndexKind::shapley_taylor, IndexKind::faithful}) {
        double sum = 0;
        for (const auto& [set, value] : index(kind, losses, n, order)) sum += value;
        EXPECT_NEAR(sum, losses.front() - losses.back(), 1e-10) << index_name(kind) << " order " << order;
      }
      if (order < n) continue;
      double sum = 0;  // of all Moebius terms
      for (const auto& [set, value] : index(IndexKind::moebius, losses, n, n)) sum += value;
      EXPECT_NEAR(sum, losses.front() - losses.back(), 1e-10);
    }
  }
}

TEST(Indices, GiveNothingToPlayersThatDoNothing) {
  constexpr std::size_t kPlayers = 6;
  auto losses = random_losses(kPlayers, 9);
  constexpr Set kIdle = 1U << 2;
  for (Set w = 0; w < losses.size(); ++w) losses[w] = losses[w & ~kIdle];
  for (const IndexKind kind : all_indices()) {
    for (std::size_t order = 1; order <= kPlayers; ++order) {
      for (const auto& [set, value] : index(kind, losses, kPlayers, order)) {
        if ((set & kIdle) == 0) continue;
        EXPECT_EQ(value, 0) << index_name(kind) << " order " << order << " set " << set;
      }
    }
  }
}

TEST(Indices, DoNotSeeTheNamesOfPlayers) {
  constexpr std::size_t kPlayers = 5;
  const auto losses = random_losses(kPlayers, 11);
  RandomStream stream(2, Purpose::probe);
  const auto order = stream.permutation(kPlayers);
  const auto renamed = [&](Set s) {
    Set result = 0;
    for (std::size_t i = 0; i < kPlayers; ++i) result |= ((s >> i) & 1U) << order[i];
    return result;
  };
  std::vector<double> other(losses.size());
  for (Set w = 0; w < losses.size(); ++w) other[renamed(w)] = losses[w];
  for (const IndexKind kind : all_indices()) {
    const auto a = index(kind, losses, kPlayers, 3);
    const auto b = index(kind, other, kPlayers, 3);
    for (const auto& [set, value] : a) EXPECT_NEAR(value, b.at(renamed(set)), 1e-12) << index_name(kind);
  }
}

TEST(Indices, AreLinear) {
  constexpr std::size_t kPlayers = 5;
  const auto a = random_losses(kPlayers, 13);
  const auto b = random_losses(kPlayers, 15);
  std::vector<double> mixed(a.size());
  for (std::size_t w = 0; w < a.size(); ++w) mixed[w] = 2 * a[w] - 3 * b[w];
  const IndexSet all(all_indices(), kPlayers, 3);
  const auto x = all.evaluate(a);
  const auto y = all.evaluate(b);
  const auto z = all.evaluate(mixed);
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (std::size_t v = 0; v < z[k].size(); ++v) EXPECT_NEAR(z[k][v], 2 * x[k][v] - 3 * y[k][v], 1e-12);
  }
}

TEST(Indices, OfAUnanimityGameAreTheirCoefficients) {
  constexpr std::size_t kPlayers = 6;
  constexpr Set kCarrier = 0b101101;
  std::vector<double> losses(std::size_t{1} << kPlayers);
  for (Set w = 0; w < losses.size(); ++w) losses[w] = (kCarrier & ~w) == 0 ? -1 : 0;
  for (const IndexKind kind : all_indices()) {
    const std::size_t order = kind == IndexKind::shapley ? 1 : 3;
    const auto c = moebius_coefficients(kind, kPlayers, order);
    for (const auto& [set, value] : index(kind, losses, kPlayers, order)) {
      const double expected = (set & ~kCarrier) == 0 ? c[static_cast<std::size_t>(size_of(set))][4] : 0;
      EXPECT_NEAR(value, expected, 1e-12) << index_name(kind) << " set " << set;
    }
  }
}

// Rounding must not grow with the number of coalitions: a sum of few terms on many players.
TEST(Indices, StayExactWithManyPlayers) {
  constexpr std::size_t kPlayers = 18;
  std::vector<double> losses(std::size_t{1} << kPlayers);
  for (Set w = 0; w < losses.size(); ++w) {
    losses[w] = 1000;
    for (std::size_t i = 0; i < kPlayers; ++i)
      if ((w >> i) & 1U) losses[w] -= 0.1 * static_cast<double>(i + 1);
    if ((w & 0b11) == 0b11) losses[w] -= 0.7;
  }
  for (const IndexKind kind : all_indices()) {
    for (const auto& [set, value] : index(kind, losses, kPlayers, 2)) {
      double expected = 0;
      if (size_of(set) == 1) expected = 0.1 * (std::countr_zero(set) + 1);
      if (set == 0b11) expected = 0.7;
      const bool spreads = kind == IndexKind::shapley || kind == IndexKind::shapley_interaction ||
                           kind == IndexKind::banzhaf || kind == IndexKind::k_additive;
      if (spreads && (set == 1 || set == 2)) expected += 0.35;
      EXPECT_NEAR(value, expected, 1e-10) << index_name(kind) << " set " << set;
    }
  }
}

TEST(Indices, NoiseIsThatOfALinearCombination) {
  constexpr std::size_t kPlayers = 5;
  const IndexSet all(all_indices(), kPlayers, 2);
  std::vector<double> variances = random_losses(kPlayers, 17);
  for (double& v : variances) v = v * v;
  const auto found = all.squared_errors(variances);
  std::vector<std::vector<double>> influence;
  auto expected = found;
  for (auto& list : expected) std::fill(list.begin(), list.end(), 0.0);
  for (std::size_t w = 0; w < variances.size(); ++w) {
    std::vector<double> one(variances.size(), 0.0);
    one[w] = std::sqrt(variances[w]);
    influence.push_back(one);
    const auto index = all.evaluate(one);
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t v = 0; v < index[k].size(); ++v) expected[k][v] += index[k][v] * index[k][v];
  }
  Workers one(1);
  Workers three(3);
  const auto row = [&](std::size_t r) { return influence[r]; };
  const auto blocks = all.squared_errors(influence.size(), row, one);
  EXPECT_EQ(blocks, all.squared_errors(influence.size(), row, three));
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (std::size_t v = 0; v < found[k].size(); ++v) {
      EXPECT_NEAR(found[k][v], expected[k][v], 1e-12);
      EXPECT_NEAR(blocks[k][v], expected[k][v], 1e-12);
    }
  }
}

TEST(Indices, SumOfWeightsIsThatOfTheDefinition) {
  // |phi(S)| <= half the sum of |weights| x range: 2^(s-1) for SII and BII.
  for (const IndexKind kind : {IndexKind::shapley_interaction, IndexKind::banzhaf, IndexKind::moebius}) {
    const IndexWeights weights = index_weights(kind, 9, 4);
    for (std::size_t s = 1; s <= 4; ++s)
      EXPECT_NEAR(weights.absolute_sum(s), std::ldexp(1.0, static_cast<int>(s)), 1e-12);
  }
}

TEST(Indices, HaveNames) {
  for (const IndexKind kind : all_indices()) EXPECT_EQ(parse_index(index_name(kind)), kind);
  EXPECT_EQ(parse_index("stii"), IndexKind::shapley_taylor);
  EXPECT_EQ(parse_index("KADD-shap"), IndexKind::k_additive);
  for (const char* wrong : {"", "SI", "SIII", "shap"}) EXPECT_THROW(parse_index(wrong), Error);
}

}  // namespace
}  // namespace hifi
