// What must hold for every game: identities, symmetries, dense = sparse, any number of threads.
#include <gtest/gtest.h>

#include <numeric>

#include "decomposition/scan_kernels.h"
#include "decomposition/scan_test_oracle.h"

namespace hifi {
namespace {

using oracle::Members;

ScanResult dense(std::size_t players, const std::vector<double>& losses, ScanOptions options = {},
                 std::size_t threads = 2) {
  Workers workers(threads);
  return scan_dense(players, losses, options, workers);
}

ScanResult sparse(std::size_t players, const LossMap& losses, ScanOptions options = {},
                  std::size_t threads = 2) {
  Workers workers(threads);
  return scan_sparse(players, losses, options, workers);
}

LossMap map_of(std::size_t players, const std::vector<double>& losses) {
  LossMap map;
  for (std::uint64_t c = 0; c < losses.size(); ++c) map[Coalition::from_mask(players, c)] = losses[c];
  return map;
}

// Bit for bit, the quantiles too.
void expect_identical(const ScanResult& a, const ScanResult& b) {
  oracle::expect_same(a, b);
  for (std::size_t i = 0; i < a.features.size(); ++i) {
    ASSERT_EQ(a.features[i].gain.has_value(), b.features[i].gain.has_value());
    if (!a.features[i].gain) continue;
    EXPECT_EQ(a.features[i].gain->q05, b.features[i].gain->q05);
    EXPECT_EQ(a.features[i].gain->q50, b.features[i].gain->q50);
    EXPECT_EQ(a.features[i].gain->q95, b.features[i].gain->q95);
  }
}

TEST(ScanProperty, NumbersAddUpAndPairsBoundPlayers) {
  for (std::size_t n = 2; n <= 10; ++n) {
    const ScanResult scan = dense(n, oracle::random_table(n, 0, static_cast<unsigned>(100 + n)));
    std::vector<double> synergy(n), redundancy(n);
    for (const PairProfile& p : scan.pairs) {
      for (const std::uint32_t i : {p.first, p.second}) {
        synergy[i] += *p.S.value;
        redundancy[i] += *p.R.value;
        const FeatureProfile& f = scan.features[i];
        EXPECT_LE(std::max(*p.S.value, *p.R.value), *f.R.value + *f.S.value + 1e-14);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const FeatureProfile& f = scan.features[i];
      EXPECT_NEAR(*f.Lmax.value, *f.U.value + *f.R.value + *f.S.value, 1e-15);
      EXPECT_EQ(*f.R.value, *f.pi.value - *f.U.value);
      EXPECT_EQ(*f.S.value, *f.Lmax.value - *f.pi.value);
      EXPECT_LE(*f.S.value, synergy[i] + 1e-14);
      EXPECT_LE(*f.R.value, redundancy[i] + 1e-14);
      EXPECT_LE(*f.U.value, f.gain->q05);
      EXPECT_LE(f.gain->q05, f.gain->q50);
      EXPECT_LE(f.gain->q50, f.gain->q95);
      EXPECT_LE(f.gain->q95, *f.Lmax.value);
    }
  }
}

TEST(ScanProperty, RelabellingPlayersRelabelsTheProfile) {
  for (const std::size_t n : {3U, 7U, 10U, 13U}) {
    // Multiples of 2^-20 in [0, 1): all differences are exact, whichever player of a pair comes first.
    std::mt19937_64 engine(n);
    std::vector<double> losses(std::size_t{1} << n);
    for (double& loss : losses) loss = std::ldexp(static_cast<double>(engine() >> 44), -20);
    std::vector<std::uint32_t> to(n);
    std::iota(to.begin(), to.end(), 0U);
    std::shuffle(to.begin(), to.end(), engine);
    std::vector<double> relabelled(losses.size());
    for (std::uint64_t c = 0; c < losses.size(); ++c) {
      std::uint64_t image = 0;
      for (const std::uint32_t i : oracle::members_of(c)) image |= std::uint64_t{1} << to[i];
      relabelled[image] = losses[c];
    }
    const ScanResult before = dense(n, losses);
    const ScanResult after = dense(n, relabelled);
    for (std::size_t i = 0; i < n; ++i) {
      const FeatureProfile& f = before.features[i];
      const FeatureProfile& g = after.features[to[i]];
      EXPECT_EQ(f.U.value, g.U.value);
      EXPECT_EQ(f.Lmax.value, g.Lmax.value);
      EXPECT_EQ(f.pi.value, g.pi.value);
      EXPECT_EQ(f.last.value, g.last.value);
      EXPECT_EQ(f.gain->q50, g.gain->q50);
    }
    std::map<std::set<std::uint32_t>, const PairProfile*> pairs;
    for (const PairProfile& p : after.pairs) pairs[{p.first, p.second}] = &p;
    for (const PairProfile& p : before.pairs) {
      EXPECT_EQ(p.S.value, pairs.at({to[p.first], to[p.second]})->S.value);
      EXPECT_EQ(p.R.value, pairs.at({to[p.first], to[p.second]})->R.value);
    }
  }
}

TEST(ScanProperty, ADummyIsExactlyZeroEverywhere) {
  for (const std::size_t n : {2U, 6U, 9U, 13U}) {
    for (std::uint32_t dummy = 0; dummy < n; ++dummy) {
      std::vector<double> losses = oracle::random_table(n, 0, 7);
      for (std::uint64_t c = 0; c < losses.size(); ++c) losses[c] = losses[c & ~(std::uint64_t{1} << dummy)];
      const ScanResult scan = dense(n, losses);
      const FeatureProfile& f = scan.features[dummy];
      for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) EXPECT_EQ(q->value, 0.0);
      EXPECT_EQ(f.gain->q95, 0.0);
      for (const PairProfile& p : scan.pairs) {
        if (p.first != dummy && p.second != dummy) continue;
        EXPECT_EQ(p.S.value, 0.0);
        EXPECT_EQ(p.R.value, 0.0);
      }
    }
  }
}

TEST(ScanProperty, TilesMeetTheDefinitions) {  // from nine players on
  for (const std::size_t n : {9U, 10U, 11U}) {
    const std::vector<double> losses = oracle::random_table(n, n == 10 ? 5 : 0, static_cast<unsigned>(n));
    oracle::expect_same(dense(n, losses), oracle::scan(n, oracle::game_of(losses)));
  }
}

TEST(ScanProperty, DenseAndSparseAgreeOnCompleteTables) {
  for (const std::size_t n : {2U, 8U, 9U, 12U, 13U, 14U, 16U}) {
    for (const int levels : {0, 2, 40}) {
      const std::vector<double> losses = oracle::random_table(n, levels, static_cast<unsigned>(n));
      expect_identical(dense(n, losses), sparse(n, map_of(n, losses)));
    }
  }
}

TEST(ScanProperty, AnyNumberOfThreadsGivesTheSameBits) {
  const std::vector<double> losses = oracle::random_table(15, 0, 3);
  LossMap some = map_of(12, oracle::random_table(12, 6, 4));
  std::erase_if(some, [](const auto& cell) { return cell.first.hash() % 3 == 0; });
  const ScanResult dense_once = dense(15, losses, {}, 1);
  const ScanResult sparse_once = sparse(12, some, {}, 1);
  for (const std::size_t threads : {2U, 5U}) {
    expect_identical(dense(15, losses, {}, threads), dense_once);
    expect_identical(sparse(12, some, {}, threads), sparse_once);
  }
}

// Large enough for several tiles in a block: L = 0 once all of T are in, else 1, plus a term of {0, n-1}.
TEST(ScanProperty, ManyPlayersClosedForm) {
  constexpr std::size_t n = 22;
  const std::uint64_t team = 1U << 3 | 1U << 9 | 1U << 14 | 1U << 21;
  const std::uint64_t couple = 1U << 0 | 1U << 21;
  const ScanResult scan = dense(n, oracle::table_of(n, [&](std::uint64_t c) {
                                  return ((c & team) == team ? 0.0 : 1.0) - ((c & couple) != 0 ? 0.5 : 0.0);
                                }));
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool in_team = (team >> i) & 1U, in_couple = (couple >> i) & 1U;
    const FeatureProfile& f = scan.features[i];
    EXPECT_EQ(f.pi.value, in_couple ? 0.5 : 0.0);
    EXPECT_EQ(f.U.value, 0.0);
    EXPECT_EQ(f.U.context, in_couple ? Members{21U - i} : Members{});
    EXPECT_EQ(f.Lmax.value, (in_team ? 1.0 : 0.0) + (in_couple ? 0.5 : 0.0));
    Members rest = oracle::members_of(in_team ? team & ~(std::uint64_t{1} << i) : 0);
    EXPECT_EQ(f.Lmax.context, rest) << i;
    EXPECT_EQ(f.contexts_seen, std::uint64_t{1} << (n - 1));
  }
  for (const PairProfile& p : scan.pairs) {
    const std::uint64_t both = std::uint64_t{1} << p.first | std::uint64_t{1} << p.second;
    EXPECT_EQ(p.S.value, (team & both) == both ? 1.0 : 0.0);
    EXPECT_EQ(p.R.value, couple == both ? 0.5 : 0.0);
    if ((team & both) == both) {
      EXPECT_EQ(p.S.context, oracle::members_of(team & ~both));
    }
  }
}

// All losses 0 but for one cell X: every extremum has one context, and X may lie in any tile.
TEST(ScanProperty, OneCellIsFoundWhereverItIs) {
  constexpr std::size_t n = 22;
  for (const std::uint64_t cell : {0x2a5c3dU, 0x15a3c2U, 0x3ffffeU}) {
    std::vector<double> losses(std::size_t{1} << n);
    losses[cell] = 4;
    const ScanResult scan = dense(n, losses);
    const auto without = [&](std::uint64_t players) { return oracle::members_of(cell & ~players); };
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool in = (cell >> i) & 1U;
      EXPECT_EQ(scan.features[i].U.value, in ? -4.0 : 0.0);
      EXPECT_EQ(scan.features[i].U.context, in ? without(std::uint64_t{1} << i) : Members{});
      EXPECT_EQ(scan.features[i].Lmax.value, in ? 0.0 : 4.0);
      EXPECT_EQ(scan.features[i].Lmax.context, in ? Members{} : without(0));
    }
    for (const PairProfile& p : scan.pairs) {
      const std::uint64_t both = std::uint64_t{1} << p.first | std::uint64_t{1} << p.second;
      const bool one = std::popcount(cell & both) == 1;
      EXPECT_EQ(p.S.value, one ? 4.0 : 0.0);
      EXPECT_EQ(p.R.value, one ? 0.0 : 4.0);
      EXPECT_EQ(one ? p.S.context : p.R.context, without(both));
    }
  }
}

TEST(ScanProperty, ConstantAndTwoValuedGainsHaveExactQuantiles) {
  constexpr std::size_t n = 16;  // gain of player 0: 1 in 3 of 64 contexts, else 0
  const auto loss = [](std::uint64_t c) { return (c & 1U) != 0 && (c >> 1 & 63U) < 3 ? 0.0 : 1.0; };
  const ScanResult rare = dense(n, oracle::table_of(n, loss));
  EXPECT_EQ(rare.features[0].gain->q05, 0.0);
  EXPECT_EQ(rare.features[0].gain->q95, 0.0);
  const auto often = [](std::uint64_t c) { return (c & 1U) != 0 && (c >> 1 & 63U) < 4 ? 0.0 : 1.0; };
  EXPECT_EQ(dense(n, oracle::table_of(n, often)).features[0].gain->q95, 1.0);
}

// Enough players for some whose sampled brackets miss and are widened.
TEST(ScanProperty, QuantilesAreExactWhateverTheSample) {
  constexpr std::size_t n = 13;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const std::vector<double> losses = oracle::random_table(n, seed % 4 == 0 ? 20 : 0, seed);
    const ScanResult scan = dense(n, losses, {.pairs = {.kind = PairSelection::Kind::none}});
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> gains;
      for (std::uint64_t c = 0; c < losses.size(); ++c) {
        if (((c >> i) & 1U) == 0) gains.push_back(losses[c] - losses[c | std::uint64_t{1} << i]);
      }
      EXPECT_NEAR(scan.features[i].gain->q05, oracle::quantile(gains, 0.05), 1e-14);
      EXPECT_NEAR(scan.features[i].gain->q50, oracle::quantile(gains, 0.5), 1e-14);
      EXPECT_NEAR(scan.features[i].gain->q95, oracle::quantile(gains, 0.95), 1e-14);
    }
  }
}

TEST(ScanProperty, KernelsGiveTheSameBitsOnEveryInstructionSet) {
  const std::vector<double> values = oracle::random_table(13, 30, 11);
  const std::size_t rows = values.size() / kLanes;
  const auto run = [&](const ScanKernels& kernels) {
    std::vector<double> all;
    for (unsigned bit = 0; bit < 10; ++bit) {
      std::vector<double> out(values.size() / 2);
      kernels.differences(values.data(), 0, rows / 2, bit, out.data());
      all.insert(all.end(), out.begin(), out.end());
      double low = 0, high = 0;
      kernels.mixed_extremes(values.data(), rows / 2, bit, &low, &high);
      all.insert(all.end(), {low, high});
    }
    double low = 0, high = 0;
    kernels.extremes(values.data(), rows, &low, &high);
    Brackets brackets{.low = {0.25, 2, 6}, .high = {1, 2, 7}};
    std::vector<double> inside(values.size() + 1);
    inside.resize(kernels.tally(values.data(), rows, &brackets, inside.data()));
    all.insert(all.end(), {low, high});
    all.insert(all.end(), inside.begin(), inside.end());
    for (std::size_t q = 0; q < 3; ++q) {
      const auto below = static_cast<std::int64_t>(
          std::count_if(values.begin(), values.end(), [&](double v) { return v < brackets.low[q]; }));
      EXPECT_EQ(brackets.below_low[q], below);
      all.push_back(static_cast<double>(brackets.up_to_low[q]));
      all.push_back(static_cast<double>(brackets.up_to_high[q]));
    }
    return all;
  };
  EXPECT_EQ(run(scan_kernels()), run(baseline_scan_kernels()));
}

class ScanSelection : public testing::TestWithParam<bool> {
 protected:
  ScanResult scan(PairSelection pairs) {
    const std::vector<double> losses = oracle::random_table(9, 3, 2);
    return GetParam() ? dense(9, losses, {.pairs = pairs}) : sparse(9, map_of(9, losses), {.pairs = pairs});
  }
};

TEST_P(ScanSelection, TopListsTheLargestFirst) {
  const std::vector<PairProfile> all = scan({}).pairs;
  ASSERT_EQ(all.size(), 36U);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto largest = [&](std::size_t k) { return std::max(*all[k].S.value, *all[k].R.value); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return largest(a) > largest(b); });
  for (const std::size_t top : {0U, 1U, 10U, 36U, 50U}) {
    const auto kept = scan({.kind = PairSelection::Kind::top, .top = top}).pairs;
    ASSERT_EQ(kept.size(), std::min<std::size_t>(top, 36));
    std::vector<std::size_t> positions(order.begin(),
                                       order.begin() + static_cast<std::ptrdiff_t>(kept.size()));
    std::sort(positions.begin(), positions.end());
    for (std::size_t k = 0; k < kept.size(); ++k) oracle::expect_same(kept[k], all[positions[k]]);
  }
}

TEST_P(ScanSelection, WithListsAPlayersPairsByPosition) {
  const std::vector<PairProfile> all = scan({}).pairs;
  for (std::uint32_t player = 0; player < 9; ++player) {
    std::vector<PairProfile> expected = all;
    std::erase_if(expected, [&](const auto& p) { return p.first != player && p.second != player; });
    const auto kept = scan({.kind = PairSelection::Kind::with, .with = player}).pairs;
    ASSERT_EQ(kept.size(), 8U);
    for (std::size_t k = 0; k < 8; ++k) oracle::expect_same(kept[k], expected[k]);
  }
  EXPECT_TRUE(scan({.kind = PairSelection::Kind::none}).pairs.empty());
}

INSTANTIATE_TEST_SUITE_P(DenseAndSparse, ScanSelection, testing::Bool());

TEST(ScanSparseLarge, AbsentPairsAreKeptLast) {
  const oracle::Game game = {{{}, 1.0}, {{1}, 1.0}, {{3}, 1.0}, {{1, 3}, 0.5}};
  const ScanResult scan =
      sparse(4, oracle::map_of(4, game), {.pairs = {.kind = PairSelection::Kind::top, .top = 3}});
  ASSERT_EQ(scan.pairs.size(), 3U);
  EXPECT_EQ((std::pair{scan.pairs[0].first, scan.pairs[0].second}), (std::pair{0U, 1U}));
  EXPECT_EQ((std::pair{scan.pairs[1].first, scan.pairs[1].second}), (std::pair{0U, 2U}));
  EXPECT_EQ(scan.pairs[0].S.value, std::nullopt);
  EXPECT_EQ((std::pair{scan.pairs[2].first, scan.pairs[2].second}), (std::pair{1U, 3U}));
  EXPECT_EQ(scan.pairs[2].S.value, 0.5);
}

// {}, all singles, the full set with and without each player, and 5,000 random diamonds.
TEST(ScanSparseLarge, ManyPlayersMeetTheDefinitions) {
  constexpr std::size_t n = 784;
  std::mt19937_64 engine(9);
  LossMap losses;
  const auto put = [&](const Coalition& c) { losses.emplace(c, static_cast<double>(engine() % 1000) / 8); };
  put(Coalition(n));
  put(Coalition::full(n));
  for (std::size_t i = 0; i < n; ++i) {
    put(Coalition(n).with(i));
    put(Coalition::full(n).without(i));
  }
  for (int k = 0; k < 5000; ++k) {
    Coalition c(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (engine() % 4 == 0) c.insert(i);
    }
    const std::size_t i = engine() % n, j = engine() % n;
    for (const Coalition& d :
         {c.without(i).without(j), c.with(i).without(j), c.with(j).without(i), c.with(i).with(j)}) {
      put(d);
    }
  }
  const ScanResult scan = sparse(n, losses);
  ASSERT_EQ(scan.pairs.size(), n * (n - 1) / 2);
  std::uint64_t diamonds = 0;
  for (const PairProfile& p : scan.pairs) {
    diamonds += p.contexts_seen;
    if (!p.S.context) continue;
    Coalition c(n);
    for (const std::uint32_t k : *p.S.context) c.insert(k);
    const Coalition with_j = c.with(p.second);
    const double d =
        (losses.at(with_j) - losses.at(with_j.with(p.first))) - (losses.at(c) - losses.at(c.with(p.first)));
    EXPECT_EQ(*p.S.value, d);
  }
  EXPECT_GE(diamonds, 4900U);  // i = j makes no diamond
  for (std::size_t i = 0; i < n; i += 97) {
    EXPECT_EQ(*scan.features[i].pi.value, losses.at(Coalition(n)) - losses.at(Coalition(n).with(i)));
    EXPECT_EQ(*scan.features[i].last.value,
              losses.at(Coalition::full(n).without(i)) - losses.at(Coalition::full(n)));
    EXPECT_EQ(scan.features[i].basis, "searched");
  }
}

}  // namespace
}  // namespace hifi
