#include "masking/off_distribution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace hifi {
namespace {

// Two columns; the second is the first plus `noise` times another number.
Frame line(double noise, std::uint64_t seed) {
  RandomStream random(seed, Purpose::probe);
  Frame frame{.rows = 400, .width = 2, .values = {}};
  for (std::size_t r = 0; r < frame.rows; ++r) {
    const double x = random.normal();
    frame.values.push_back(x);
    frame.values.push_back(x + noise * random.normal());
  }
  return frame;
}

const Players kPlayers{{"a", "b"}, {{0}, {1}}};
const InputColumns kColumns{{"a", "b"}, {{}, {}}};

TEST(OffDistribution, IsAboutOneWhereColumnsAreIndependent) {
  Frame frame = line(0, 1);
  RandomStream random(9, Purpose::probe);
  for (std::size_t r = 0; r < frame.rows; ++r) frame.row(r)[1] = random.normal();
  const double score = off_distribution(frame, frame, kColumns, kPlayers, 0).value();
  EXPECT_GT(score, .8);
  EXPECT_LT(score, 1.4);
}

TEST(OffDistribution, GrowsWithTheDependenceThatMaskingBreaks) {
  const Frame loose = line(.5, 2);
  const Frame tight = line(.05, 2);
  const double a = off_distribution(loose, loose, kColumns, kPlayers, 0).value();
  const double b = off_distribution(tight, tight, kColumns, kPlayers, 0).value();
  EXPECT_GT(a, 1.2);
  EXPECT_GT(b, 3 * a);
}

TEST(OffDistribution, DoesNotDependOnUnits) {
  const Frame frame = line(.3, 3);
  Frame scaled = frame;
  for (std::size_t r = 0; r < scaled.rows; ++r) scaled.row(r)[1] *= 1e6;
  EXPECT_NEAR(*off_distribution(frame, frame, kColumns, kPlayers, 0),
              *off_distribution(scaled, scaled, kColumns, kPlayers, 0), 1e-9);
}

TEST(OffDistribution, IsAbsentWhereNothingCanBeSaid) {
  Frame equal{.rows = 10, .width = 2, .values = std::vector<double>(20, 1.0)};
  EXPECT_FALSE(off_distribution(equal, equal, kColumns, kPlayers, 0));
  Frame two{.rows = 2, .width = 2, .values = {0, 1, 2, 3}};
  EXPECT_FALSE(off_distribution(two, two, kColumns, kPlayers, 0));
}

}  // namespace
}  // namespace hifi
