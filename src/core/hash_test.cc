#include "core/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace hifi {
namespace {

// Known answer of XXH3_128bits for no input (the specification's sanity test).
TEST(Hash, KnownAnswer) { EXPECT_EQ(hex_hash(""), "99aa06d3014798d86001c324468d497f"); }

TEST(Hash, TellsBytesApart) {
  EXPECT_EQ(hex_hash("abc").size(), 32U);
  EXPECT_NE(hex_hash("abc"), hex_hash("abd"));
  EXPECT_NE(hex_hash(std::string_view("a\0", 2)), hex_hash("a"));
}

TEST(Hash, NumbersDependOnEveryValueAndTheSeed) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  const auto add = [&](const std::vector<double>& values, std::uint64_t seed) {
    const Hash128 hash = hash_numbers(values, seed);
    seen.emplace(hash.low, hash.high);
  };
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const double x : {0.0, 1.0, 2.0}) {
      add({x}, seed);
      add({x, 0}, seed);
      add({0, x, 1}, seed);
    }
    add({}, seed);
  }
  EXPECT_EQ(seen.size(), 100U * 10U);
}

TEST(Hash, XorUndoesItself) {
  Hash128 a = hash_numbers(std::vector{1.0}, 0);
  const Hash128 before = a;
  const Hash128 b = hash_numbers(std::vector{2.0}, 0);
  a ^= b;
  EXPECT_FALSE(a == before);
  a ^= b;
  EXPECT_TRUE(a == before);
}

}  // namespace
}  // namespace hifi
