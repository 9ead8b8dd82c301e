#include "stats/multiplier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace hifi {
namespace {

constexpr std::size_t kDraws = 1000;

struct Sample {
  std::size_t blocks, count;
  std::vector<float> influence;
  Weighing plain, weighed;

  Sample(std::size_t blocks_, std::size_t count_) : blocks(blocks_), count(count_) {
    RandomStream random(5, Purpose::probe);
    influence.assign(count * padded(blocks), 0.0F);
    for (std::size_t c = 0; c < count; ++c) {
      for (std::size_t g = 0; g < blocks; ++g)
        influence[c * padded(blocks) + g] = static_cast<float>(random.normal());
      plain.factor.push_back(1);
      plain.shift.push_back(0);
      weighed.factor.push_back(static_cast<float>(random.uniform()));
      weighed.shift.push_back(c % 3 == 1 ? -HUGE_VALF : 0.0F);
    }
  }
};

// The multipliers themselves show as the process of one statistic that is 1 in one block and 0 elsewhere.
std::vector<std::vector<float>> multipliers(const Multipliers& all, std::size_t blocks) {
  std::vector<std::vector<float>> result(blocks);
  const Weighing one{{1}, {0}};
  std::vector<float> ignored;
  for (std::size_t g = 0; g < blocks; ++g) {
    std::vector<float> influence(padded(blocks), 0.0F);
    influence[g] = 1;
    all.largest(influence, one, one, result[g], ignored);
  }
  return result;
}

TEST(Multipliers, TheLargestIsThatOfTheDefinition) {
  for (const std::size_t blocks : {5U, 32U, 40U}) {
    for (const std::size_t count : {1U, 3U, 4U, 27U}) {
      const Sample sample(blocks, count);
      const Multipliers all(kDraws, blocks, static_cast<double>(blocks) - 1, 1);
      const auto multiplier = multipliers(all, blocks);
      std::vector<float> plain, weighed;
      all.largest(sample.influence, sample.plain, sample.weighed, plain, weighed);
      ASSERT_EQ(plain.size(), kDraws);
      for (std::size_t d = 0; d < kDraws; d += 7) {
        double top = -HUGE_VAL, top_weighed = -HUGE_VAL;
        for (std::size_t c = 0; c < count; ++c) {
          double sum = 0;
          for (std::size_t g = 0; g < blocks; ++g)
            sum += static_cast<double>(multiplier[g][d]) * sample.influence[c * padded(blocks) + g];
          top = std::max(top, sum);
          if (c % 3 != 1) top_weighed = std::max(top_weighed, sum * sample.weighed.factor[c]);
        }
        EXPECT_NEAR(plain[d], top, 1e-4);
        EXPECT_NEAR(weighed[d], top_weighed, 1e-4);
      }
    }
  }
}

TEST(Multipliers, EveryInstructionSetGivesTheSameBits) {
  const Sample sample(32, 30);
  const Multipliers all(kDraws, 32, 31, 1);
  std::vector<float> first[2], second[2];
  all.largest(sample.influence, sample.plain, sample.weighed, first[0], second[0], false);
  all.largest(sample.influence, sample.plain, sample.weighed, first[1], second[1], true);
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(second[0], second[1]);
}

TEST(Multipliers, AreStandardNormalAndTheScaleIsChi) {
  const Multipliers all(kDraws, 32, 31, 1);
  double mean = 0, squares = 0, scale = 0;
  for (const auto& row : multipliers(all, 32)) {
    for (const float x : row) {
      mean += x / (32.0 * kDraws);
      squares += static_cast<double>(x) * x / (32.0 * kDraws);
    }
  }
  for (const double x : all.scale()) scale += x * x / kDraws;
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(squares, 1, 0.03);
  EXPECT_NEAR(scale, 1, 0.04);
}

}  // namespace
}  // namespace hifi
