// For tests: the scan as the definitions say it, slow and obvious, and games to scan.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "decomposition/scan.h"

namespace hifi::oracle {

using Members = std::vector<std::uint32_t>;

// A context is the list of its players; std::set orders lists of one size lexicographically.
using Game = std::map<Members, double>;

inline Members plus(Members c, std::uint32_t player) {
  c.insert(std::upper_bound(c.begin(), c.end(), player), player);
  return c;
}

inline bool has(const Members& c, std::uint32_t player) {
  return std::find(c.begin(), c.end(), player) != c.end();
}

inline Members members_of(std::uint64_t mask) {
  Members c;
  for (std::uint32_t i = 0; i < 64; ++i) {
    if ((mask >> i) & 1U) c.push_back(i);
  }
  return c;
}

inline std::vector<double> table_of(std::size_t players, const std::function<double(std::uint64_t)>& loss) {
  std::vector<double> losses(std::size_t{1} << players);
  for (std::uint64_t c = 0; c < losses.size(); ++c) losses[c] = loss(c);
  return losses;
}

inline Game game_of(const std::vector<double>& losses) {
  Game game;
  for (std::uint64_t c = 0; c < losses.size(); ++c) game[members_of(c)] = losses[c];
  return game;
}

inline LossMap map_of(std::size_t players, const Game& game) {
  LossMap losses;
  for (const auto& [members, loss] : game) {
    Coalition c(players);
    for (const std::uint32_t i : members) c.insert(i);
    losses[c] = loss;
  }
  return losses;
}

// Random losses on a grid of `levels` steps (0: any double), so that ties abound when it is coarse.
inline std::vector<double> random_table(std::size_t players, int levels, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  std::uniform_int_distribution<int> step(0, std::max(levels, 1));
  return table_of(players, [&](std::uint64_t) { return levels == 0 ? any(engine) : step(engine) / 4.0; });
}

// Value of each context seen.
using Values = std::map<Members, double>;

inline Members smallest_tie(const Values& values, double sign, double extremum, double tolerance,
                            bool positive) {
  std::vector<Members> ties;
  for (const auto& [c, v] : values) {
    if (sign * v >= sign * extremum - tolerance && (!positive || sign * v > 0)) ties.push_back(c);
  }
  return *std::min_element(ties.begin(), ties.end(), [](const Members& a, const Members& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
}

inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 == values.size()) return values[below];
  return values[below] + (values[below + 1] - values[below]) * (at - static_cast<double>(below));
}

inline Quantity quantity(double value, std::optional<Members> context) {
  Quantity q;
  q.value = q.plugin = value;
  q.context = std::move(context);
  return q;
}

inline double extremum(const Values& values, double sign) {
  double best = sign * values.begin()->second;
  for (const auto& [c, v] : values) best = std::max(best, sign * v);
  return sign * best;
}

inline FeatureProfile feature(std::size_t players, const Game& game, std::uint32_t i, double tolerance) {
  FeatureProfile f;
  f.basis = "searched";
  Values gains;
  std::vector<double> plain;
  for (const auto& [c, loss] : game) {
    if (has(c, i) || !game.contains(plus(c, i))) continue;
    gains[c] = loss - game.at(plus(c, i));
    plain.push_back(gains[c]);
  }
  f.contexts_seen = gains.size();
  if (gains.empty()) return f;
  if (gains.size() == std::size_t{1} << (players - 1)) f.basis = "enumerated";
  const double low = extremum(gains, -1);
  const double high = extremum(gains, 1);
  f.U = quantity(low, smallest_tie(gains, -1, low, tolerance, false));
  f.Lmax = quantity(high, smallest_tie(gains, 1, high, tolerance, false));
  f.gain = {quantile(plain, 0.05), quantile(plain, 0.5), quantile(plain, 0.95)};
  if (gains.contains({})) {
    const double pi = gains.at({});
    f.pi = quantity(pi, Members{});
    f.R = quantity(pi - low, f.U.context);
    f.S = quantity(high - pi, f.Lmax.context);
  }
  Members others;
  for (std::uint32_t k = 0; k < players; ++k) {
    if (k != i) others.push_back(k);
  }
  if (gains.contains(others)) f.last = quantity(gains.at(others), others);
  return f;
}

inline PairProfile pair(const Game& game, std::uint32_t i, std::uint32_t j, double tolerance) {
  PairProfile p;
  p.first = i;
  p.second = j;
  Values mixed;
  for (const auto& [c, loss] : game) {
    if (has(c, i) || has(c, j)) continue;
    const Members ci = plus(c, i), cj = plus(c, j), cij = plus(ci, j);
    if (!game.contains(ci) || !game.contains(cj) || !game.contains(cij)) continue;
    mixed[c] = (game.at(cj) - game.at(cij)) - (loss - game.at(ci));
  }
  p.contexts_seen = mixed.size();
  if (mixed.empty()) return p;
  const double high = extremum(mixed, 1);
  const double low = extremum(mixed, -1);
  p.S = high > 0 ? quantity(high, smallest_tie(mixed, 1, high, tolerance, true)) : quantity(0, std::nullopt);
  p.R = low < 0 ? quantity(-low, smallest_tie(mixed, -1, low, tolerance, true)) : quantity(0, std::nullopt);
  return p;
}

inline ScanResult scan(std::size_t players, const Game& game, double tie_tolerance = 1e-9) {
  double largest = 0;
  for (const auto& [c, loss] : game) largest = std::max(largest, std::abs(loss));
  ScanResult result;
  for (std::uint32_t i = 0; i < players; ++i) {
    result.features.push_back(feature(players, game, i, tie_tolerance * largest));
    for (std::uint32_t j = i + 1; j < players; ++j) {
      result.pairs.push_back(pair(game, i, j, tie_tolerance * largest));
    }
  }
  return result;
}

inline void expect_same(const Quantity& a, const Quantity& b, const std::string& what) {
  EXPECT_EQ(a.value, b.value) << what;
  EXPECT_EQ(a.plugin, b.plugin) << what;
  EXPECT_EQ(a.context, b.context) << what;
  for (const Quantity* q : {&a, &b}) {
    EXPECT_FALSE(q->low || q->high || q->population || q->resolved) << what;
  }
}

inline void expect_same(const PairProfile& a, const PairProfile& b) {
  const std::string name = std::to_string(a.first) + "," + std::to_string(a.second);
  EXPECT_EQ(a.first, b.first) << name;
  EXPECT_EQ(a.second, b.second) << name;
  EXPECT_EQ(a.contexts_seen, b.contexts_seen) << name;
  expect_same(a.S, b.S, "S of " + name);
  expect_same(a.R, b.R, "R of " + name);
}

// All bits alike but for the quantiles, whose interpolation may be written in two ways.
inline void expect_same(const ScanResult& a, const ScanResult& b) {
  ASSERT_EQ(a.features.size(), b.features.size());
  for (std::size_t i = 0; i < a.features.size(); ++i) {
    const FeatureProfile& x = a.features[i];
    const FeatureProfile& y = b.features[i];
    const std::string name = " of " + std::to_string(i);
    expect_same(x.U, y.U, "U" + name);
    expect_same(x.R, y.R, "R" + name);
    expect_same(x.S, y.S, "S" + name);
    expect_same(x.pi, y.pi, "pi" + name);
    expect_same(x.Lmax, y.Lmax, "Lmax" + name);
    expect_same(x.last, y.last, "last" + name);
    EXPECT_EQ(x.contexts_seen, y.contexts_seen) << name;
    EXPECT_EQ(x.basis, y.basis) << name;
    EXPECT_FALSE(x.verdict || x.hurts_in_context || y.verdict || y.hurts_in_context) << name;
    ASSERT_EQ(x.gain.has_value(), y.gain.has_value()) << name;
    if (!x.gain) continue;
    EXPECT_NEAR(x.gain->q05, y.gain->q05, 1e-14) << name;
    EXPECT_NEAR(x.gain->q50, y.gain->q50, 1e-14) << name;
    EXPECT_NEAR(x.gain->q95, y.gain->q95, 1e-14) << name;
  }
  ASSERT_EQ(a.pairs.size(), b.pairs.size());
  for (std::size_t k = 0; k < a.pairs.size(); ++k) expect_same(a.pairs[k], b.pairs[k]);
}

}  // namespace hifi::oracle
