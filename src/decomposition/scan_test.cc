// Games with closed-form answers, and the definitions spelled out on random games.
#include "decomposition/scan.h"

#include <gtest/gtest.h>

#include "decomposition/scan_test_oracle.h"

namespace hifi {
namespace {

using oracle::Game;
using oracle::Members;

ScanResult dense(std::size_t players, const std::vector<double>& losses, ScanOptions options = {},
                 std::size_t threads = 2) {
  Workers workers(threads);
  return scan_dense(players, losses, options, workers);
}

ScanResult sparse(std::size_t players, const Game& game, ScanOptions options = {}, std::size_t threads = 2) {
  Workers workers(threads);
  return scan_sparse(players, oracle::map_of(players, game), options, workers);
}

bool contains(std::uint64_t c, std::uint64_t part) { return (c & part) == part; }

// The dense and the sparse scan of a complete game, which must agree.
ScanResult both(std::size_t players, const std::function<double(std::uint64_t)>& loss) {
  const std::vector<double> losses = oracle::table_of(players, loss);
  ScanResult result = dense(players, losses);
  oracle::expect_same(result, sparse(players, oracle::game_of(losses)));
  return result;
}

TEST(Scan, Xor3IsPureSynergyAndTheSpectatorNothing) {
  const ScanResult scan = both(4, [](std::uint64_t c) { return contains(c, 0b0111) ? 0.0 : 0.5; });
  for (std::uint32_t i = 0; i < 3; ++i) {
    const FeatureProfile& f = scan.features[i];
    EXPECT_EQ(f.U.value, 0.0);
    EXPECT_EQ(f.R.value, 0.0);
    EXPECT_EQ(f.S.value, 0.5);
    EXPECT_EQ(f.Lmax.value, 0.5);
    EXPECT_EQ(f.pi.value, 0.0);
    EXPECT_EQ(f.last.value, 0.5);
    EXPECT_EQ(f.U.context, Members{});
    EXPECT_EQ(f.S.context, (Members{i == 0 ? 1U : 0U, i == 2 ? 1U : 2U}));
    EXPECT_EQ(f.contexts_seen, 8U);
    EXPECT_EQ(f.basis, "enumerated");
  }
  const FeatureProfile& spectator = scan.features[3];
  for (const Quantity* q : {&spectator.U, &spectator.R, &spectator.S, &spectator.pi, &spectator.Lmax}) {
    EXPECT_EQ(q->value, 0.0);
    EXPECT_EQ(q->context, Members{});
  }
  EXPECT_EQ(spectator.last.context, (Members{0, 1, 2}));
  EXPECT_EQ(scan.pairs[0].S.value, 0.5);  // (0,1), given 2
  EXPECT_EQ(scan.pairs[0].S.context, Members{2});
  EXPECT_EQ(scan.pairs[0].R.value, 0.0);
  EXPECT_EQ(scan.pairs[0].R.context, std::nullopt);
  EXPECT_EQ(scan.pairs[2].S.value, 0.0);  // (0,3)
  EXPECT_EQ(scan.pairs[2].S.context, std::nullopt);
}

TEST(Scan, UnanimityGame) {
  // L = 0 once all of T = {1, 4, 6} are in, else 1.
  const ScanResult scan = both(8, [](std::uint64_t c) { return contains(c, 0b0101'0010) ? 0.0 : 1.0; });
  EXPECT_EQ(scan.features[1].S.value, 1.0);
  EXPECT_EQ(scan.features[1].S.context, (Members{4, 6}));
  EXPECT_EQ(scan.features[0].Lmax.value, 0.0);
  for (const PairProfile& p : scan.pairs) {
    const bool in = contains(0b0101'0010, std::uint64_t{1} << p.first | std::uint64_t{1} << p.second);
    EXPECT_EQ(p.S.value, in ? 1.0 : 0.0);
    EXPECT_EQ(p.R.value, 0.0);
    EXPECT_EQ(p.contexts_seen, 64U);
    EXPECT_EQ(p.S.context.value_or(Members{}), in ? Members{1U + 4 + 6 - p.first - p.second} : Members{});
  }
}

TEST(Scan, AndWithSquaredLoss) {
  // y = x1 x2 of fair bits, predicted by its conditional mean: variances 3/16, 1/8, 1/8, 0.
  const double table[] = {3.0 / 16, 1.0 / 8, 1.0 / 8, 0};
  const ScanResult scan = both(2, [&](std::uint64_t c) { return table[c]; });
  for (const FeatureProfile& f : scan.features) {
    EXPECT_EQ(f.U.value, 1.0 / 16);
    EXPECT_EQ(f.R.value, 0.0);
    EXPECT_EQ(f.S.value, 1.0 / 16);
    EXPECT_EQ(f.gain->q50, 3.0 / 32);
  }
  EXPECT_EQ(scan.pairs[0].S.value, 1.0 / 16);
  EXPECT_EQ(scan.pairs[0].S.context, Members{});
}

TEST(Scan, CopiesAreRedundant) {
  // Players 0 and 2 carry the same information; 1 carries its own.
  const ScanResult scan = both(3, [](std::uint64_t c) {
    return 1.0 - (contains(c, 1) || contains(c, 4) ? 0.5 : 0.0) - (contains(c, 2) ? 0.25 : 0.0);
  });
  EXPECT_EQ(scan.features[0].U.value, 0.0);
  EXPECT_EQ(scan.features[0].R.value, 0.5);
  EXPECT_EQ(scan.features[0].R.context, Members{2});
  EXPECT_EQ(scan.features[0].S.value, 0.0);
  EXPECT_EQ(scan.features[1].U.value, 0.25);
  EXPECT_EQ(scan.pairs[1].R.value, 0.5);
  EXPECT_EQ(scan.pairs[1].R.context, Members{});
  EXPECT_EQ(scan.pairs[1].S.value, 0.0);
}

TEST(Scan, AdditiveGameIsUniqueAndAHarmfulPlayerNegative) {
  const double worth[] = {0.5, -0.25, 0.125, 0, 2, 1};
  const ScanResult scan = both(6, [&](std::uint64_t c) {
    double loss = 4;
    for (std::size_t i = 0; i < 6; ++i) loss -= contains(c, std::uint64_t{1} << i) ? worth[i] : 0;
    return loss;
  });
  for (std::size_t i = 0; i < 6; ++i) {
    const FeatureProfile& f = scan.features[i];
    for (const Quantity* q : {&f.U, &f.pi, &f.Lmax, &f.last}) EXPECT_EQ(q->value, worth[i]);
    EXPECT_EQ(f.R.value, 0.0);
    EXPECT_EQ(f.S.value, 0.0);
    EXPECT_EQ(f.U.context, Members{});
    EXPECT_EQ(f.gain->q05, worth[i]);
    EXPECT_EQ(f.gain->q95, worth[i]);
  }
  for (const PairProfile& p : scan.pairs) {
    EXPECT_EQ(p.S.value, 0.0);
    EXPECT_EQ(p.R.value, 0.0);
  }
}

TEST(Scan, TiesWithinTheToleranceGoToTheSmallestContext) {
  // The gain of player 0 is largest at {1,2} by less than the tolerance; {3} ties.
  const auto loss = [](std::uint64_t c) {
    if (!contains(c, 1)) return 1.0;
    if (c == 0b0111) return 0.5 - 1e-12;
    return contains(c, 0b1000) ? 0.5 : 1.0;
  };
  const std::vector<double> losses = oracle::table_of(4, loss);
  const ScanResult loose = dense(4, losses);
  EXPECT_EQ(loose.features[0].Lmax.value, 0.5 + 1e-12);
  EXPECT_EQ(loose.features[0].Lmax.context, Members{3});
  EXPECT_EQ(loose.features[0].S.context, Members{3});
  const ScanResult strict = dense(4, losses, {.tie_tolerance = 1e-14});
  EXPECT_EQ(strict.features[0].Lmax.context, (Members{1, 2}));
  // Lexicographic among equals: {1,4} before {2,3}.
  const ScanResult equal = both(5, [](std::uint64_t c) { return c == 0b10011 || c == 0b01101 ? 0.0 : 1.0; });
  EXPECT_EQ(equal.features[0].Lmax.context, (Members{1, 4}));
}

TEST(Scan, SmallPairValuesStayAndTheirContextShowsTheEffect) {
  // D_01 is 1e-12 at {2} and 0 or less elsewhere: below the tolerance, and still neither rounded nor at {}.
  const ScanResult scan = both(3, [](std::uint64_t c) { return c == 7 ? 1 - 1e-12 : 1.0; });
  EXPECT_EQ(scan.pairs[0].S.value, 1.0 - (1 - 1e-12));
  EXPECT_EQ(scan.pairs[0].S.context, Members{2});
}

TEST(Scan, NegativeZeroNeverShows) {
  const ScanResult scan = both(2, [](std::uint64_t c) { return c == 0 ? -0.0 : 0.0; });
  for (const FeatureProfile& f : scan.features) {
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last})
      EXPECT_FALSE(std::signbit(*q->value));
    EXPECT_FALSE(std::signbit(f.gain->q05) || std::signbit(f.gain->q50));
  }
}

TEST(Scan, NoPlayersAndOnePlayer) {
  EXPECT_TRUE(both(0, [](std::uint64_t) { return 1.0; }).features.empty());
  const ScanResult one = both(1, [](std::uint64_t c) { return c == 0 ? 3.0 : 1.0; });
  ASSERT_EQ(one.features.size(), 1U);
  EXPECT_TRUE(one.pairs.empty());
  for (const Quantity* q : {&one.features[0].U, &one.features[0].pi, &one.features[0].last}) {
    EXPECT_EQ(q->value, 2.0);
    EXPECT_EQ(q->context, Members{});
  }
  EXPECT_EQ(one.features[0].basis, "enumerated");
}

TEST(Scan, RandomGamesMeetTheDefinitions) {
  for (std::size_t n = 1; n <= 8; ++n) {
    for (const int levels : {0, 2, 8}) {
      const std::vector<double> losses = oracle::random_table(n, levels, static_cast<unsigned>(n));
      const ScanResult expected = oracle::scan(n, oracle::game_of(losses));
      oracle::expect_same(dense(n, losses), expected);
      oracle::expect_same(sparse(n, oracle::game_of(losses)), expected);
    }
  }
}

TEST(Scan, WideTolerances) {
  for (const double tolerance : {1e-3, 0.1, 0.7}) {
    const std::vector<double> losses = oracle::random_table(7, 0, 3);
    const ScanResult expected = oracle::scan(7, oracle::game_of(losses), tolerance);
    oracle::expect_same(dense(7, losses, {.tie_tolerance = tolerance}), expected);
    oracle::expect_same(sparse(7, oracle::game_of(losses), {.tie_tolerance = tolerance}), expected);
  }
}

TEST(ScanSparse, RandomSubsetsMeetTheDefinitions) {
  std::mt19937_64 engine(5);
  for (std::size_t n = 1; n <= 8; ++n) {
    for (const double share : {0.1, 0.4, 0.8, 0.97}) {
      Game game = oracle::game_of(oracle::random_table(n, n % 2 == 0 ? 3 : 0, static_cast<unsigned>(n)));
      std::erase_if(game,
                    [&](const auto&) { return std::uniform_real_distribution<>(0, 1)(engine) > share; });
      oracle::expect_same(sparse(n, game), oracle::scan(n, game));
    }
  }
}

TEST(ScanSparse, WhatWasNotSeenIsAbsent) {
  // {0} and {0,1} only: player 1 has one context, player 0 none.
  const ScanResult scan = sparse(3, {{{0}, 1.0}, {{0, 1}, 0.25}});
  EXPECT_EQ(scan.features[0].U.value, std::nullopt);
  EXPECT_EQ(scan.features[0].U.context, std::nullopt);
  EXPECT_EQ(scan.features[0].gain.has_value(), false);
  EXPECT_EQ(scan.features[0].basis, "searched");
  EXPECT_EQ(scan.features[1].U.value, 0.75);
  EXPECT_EQ(scan.features[1].U.context, Members{0});
  EXPECT_EQ(scan.features[1].pi.value, std::nullopt);
  EXPECT_EQ(scan.features[1].R.value, std::nullopt);
  EXPECT_EQ(scan.features[1].last.value, std::nullopt);
  EXPECT_EQ(scan.features[1].contexts_seen, 1U);
  ASSERT_EQ(scan.pairs.size(), 3U);
  EXPECT_EQ(scan.pairs[0].S.value, std::nullopt);
  EXPECT_EQ(scan.pairs[0].contexts_seen, 0U);
  EXPECT_TRUE(sparse(3, {}).features[2].basis == "searched");
}

TEST(ScanSparse, APairSeenWithoutEffectIsZero) {
  const ScanResult scan = sparse(3, {{{}, 1.0}, {{0}, 0.5}, {{1}, 0.5}, {{0, 1}, 0.0}});
  EXPECT_EQ(scan.pairs[0].S.value, 0.0);
  EXPECT_EQ(scan.pairs[0].R.value, 0.0);
  EXPECT_EQ(scan.pairs[0].S.context, std::nullopt);
  EXPECT_EQ(scan.pairs[0].contexts_seen, 1U);
}

}  // namespace
}  // namespace hifi
