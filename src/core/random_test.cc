#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hifi {
namespace {

// Known answers of Random123 1.14 (kat_vectors, philox4x32 10).
TEST(Philox, MatchesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, DependsOnSeedPurposeAndIndexOnly) {
  const auto first = [](std::uint64_t seed, Purpose p, std::uint64_t i) {
    return RandomStream(seed, p, i).next_u64();
  };
  EXPECT_EQ(first(7, Purpose::probe, 3), first(7, Purpose::probe, 3));
  EXPECT_NE(first(7, Purpose::probe, 3), first(8, Purpose::probe, 3));
  EXPECT_NE(first(7, Purpose::probe, 3), first(7, Purpose::offsets, 3));
  EXPECT_NE(first(7, Purpose::probe, 3), first(7, Purpose::probe, 4));
  EXPECT_NE(first(7, Purpose::probe, 3), first(7 + (1ULL << 32), Purpose::probe, 3));
}

TEST(RandomStream, PermutationIsABijectionAndShuffles) {
  auto order = RandomStream(1, Purpose::instance_order).permutation(1000);
  std::size_t fixed = 0;
  for (std::size_t i = 0; i < order.size(); ++i) fixed += order[i] == i;
  EXPECT_LT(fixed, 10U);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream(1, Purpose::probe);
  std::array<int, 3> seen{};
  for (int i = 0; i < 30000; ++i) ++seen[stream.below(3)];
  for (const int count : seen) EXPECT_NEAR(count, 10000, 400);
}

}  // namespace
}  // namespace hifi
