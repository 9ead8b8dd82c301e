#include "hifi/coalition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "hifi/error.h"

namespace hifi {
namespace {

TEST(Coalition, RoundTripsThroughText) {
  const std::string bits = "0110100000000000000000000000000000000000000000000000000000000000011";
  const Coalition c = Coalition::from_string(bits);
  EXPECT_EQ(c.to_string(), bits);
  EXPECT_EQ(c.count(), 5U);
  EXPECT_EQ(c.members(), (std::vector<std::uint32_t>{1, 2, 4, 65, 66}));
  EXPECT_THROW(Coalition::from_string("01x"), Error);
}

TEST(Coalition, OrdersBySizeThenByPosition) {
  const auto c = [](const char* bits) { return Coalition::from_string(bits); };
  EXPECT_LT(c("0000"), c("0001"));
  EXPECT_LT(c("0001"), c("1100"));
  EXPECT_LT(c("1001"), c("0110"));  // {1,4} before {2,3}
  EXPECT_LT(c("1010"), c("1001"));
}

TEST(Coalition, MaskOrderIsTheSameOrder) {
  for (std::uint64_t a = 0; a < 64; ++a) {
    for (std::uint64_t b = 0; b < 64; ++b) {
      EXPECT_EQ(smaller_context(a, b), Coalition::from_mask(6, a) < Coalition::from_mask(6, b));
    }
  }
}

TEST(Coalition, HoldsUpTo4096Players) {
  Coalition c(kMaxPlayers);
  for (std::size_t i = 0; i < kMaxPlayers; i += 3) c.insert(i);
  EXPECT_EQ(c.count(), 1366U);
  EXPECT_TRUE(c.contains(4095));
  EXPECT_FALSE(c.without(4095).contains(4095));
  EXPECT_TRUE(c.contains(4095));
  EXPECT_EQ(Coalition::full(kMaxPlayers).count(), kMaxPlayers);
  EXPECT_THROW(Coalition(kMaxPlayers + 1), Error);
}

TEST(Coalition, HashesTellThemApart) {
  std::set<std::uint64_t> seen;
  for (const std::size_t n : {20U, 100U}) {
    for (std::uint64_t mask = 0; mask < 4096; ++mask) {
      Coalition c(n);
      for (std::size_t i = 0; i < 12; ++i) {
        if ((mask >> i) & 1U) c.insert(i * (n / 12));
      }
      seen.insert(c.hash());
    }
  }
  EXPECT_EQ(seen.size(), 2U * 4096U);
}

}  // namespace
}  // namespace hifi
