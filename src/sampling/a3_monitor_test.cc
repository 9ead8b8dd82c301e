#include "sampling/a3_monitor.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"

namespace hifi {
namespace {

constexpr A3Monitor::Pair kPair{2, 5};

// Diamonds until the pair is flagged, at most `most`; 0 if it never is. `noise` gives the losses of C, C+i,
// C+j, C+ij in one slice.
template <class Noise>
std::size_t flagged_after(std::uint64_t seed, std::size_t most, Noise noise) {
  RandomStream random(seed, Purpose::probe);
  A3Monitor monitor;
  for (std::size_t d = 1; d <= most; ++d) {
    std::array<std::vector<double>, 4> slices;
    for (int s = 0; s < 8; ++s) {
      const std::array<double, 4> losses = noise(random);
      for (std::size_t k = 0; k < 4; ++k) slices[k].push_back(losses[k]);
    }
    if (monitor.see(kPair, {slices[0], slices[1], slices[2], slices[3]})) {
      EXPECT_TRUE(monitor.flagged(kPair));
      EXPECT_FALSE(monitor.flagged({2, 6}));
      EXPECT_EQ(monitor.saving(kPair).first, d);
      EXPECT_LT(monitor.saving(kPair).second, 0);
      return d;
    }
    EXPECT_FALSE(monitor.flagged(kPair));
  }
  return 0;
}

// Common noise cancels in the mixed difference.
TEST(A3Monitor, WhereCouplingHelpsNothingIsFlagged) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(flagged_after(seed, 200,
                            [](RandomStream& r) {
                              const double shared = r.normal();
                              return std::array{shared, shared + .1 * r.normal(), shared, shared};
                            }),
              0U);
  }
}

// C+i and C+j move together and against the others: the mixed difference has 16 times the variance of a
// corner, where independent corners would give it 4 times.
TEST(A3Monitor, AViolationIsFlaggedOnceAndSoon) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::size_t after = flagged_after(seed, 64, [](RandomStream& r) {
      const double x = r.normal();
      return std::array{-x, x, x, -x};
    });
    EXPECT_GE(after, 8U);
    EXPECT_LE(after, 16U);
  }
  A3Monitor monitor;
  std::size_t flags = 0;
  RandomStream random(1, Purpose::probe);
  for (int d = 0; d < 50; ++d) {
    std::vector<double> up, down;
    for (int s = 0; s < 8; ++s) {
      up.push_back(random.normal());
      down.push_back(-up.back());
    }
    flags += monitor.see(kPair, {down, up, up, down}) ? 1 : 0;
  }
  EXPECT_EQ(flags, 1U);
}

// Independent corners: coupling neither helps nor hurts. A pair that is looked at again and again must not be
// flagged more often than the level of one test says.
TEST(A3Monitor, EqualityIsRarelyFlaggedHoweverLongItIsWatched) {
  constexpr std::uint64_t kRuns = 1000;
  std::size_t flagged = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    flagged += flagged_after(seed, 200,
                             [](RandomStream& r) {
                               return std::array{r.normal(), r.normal(), r.normal(), r.normal()};
                             }) > 0
                   ? 1
                   : 0;
  }
  EXPECT_LE(static_cast<double>(flagged) / kRuns, .015);
}

TEST(A3Monitor, OneSliceSaysNothing) {
  A3Monitor monitor;
  const std::vector<double> one{1};
  for (int d = 0; d < 20; ++d) EXPECT_FALSE(monitor.see(kPair, {one, one, one, one}));
  EXPECT_EQ(monitor.saving(kPair).first, 0U);
}

// No noise at all, as for players that change nothing.
TEST(A3Monitor, ConstantLossesAreNotFlagged) {
  A3Monitor monitor;
  const std::vector<double> same{1, 1, 1, 1};
  for (int d = 0; d < 20; ++d) EXPECT_FALSE(monitor.see(kPair, {same, same, same, same}));
}

}  // namespace
}  // namespace hifi
