#include "vocabulary/lattice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace hifi {
namespace {

TEST(Lattice, MeansAndVariancesByHand) {
  // Coalition s sees the losses 1, 2, 3 + s in three draws: blocks {1, 2} and {3 + s}.
  Lattice lattice = Lattice::zeros(2, 2, 1, 0);
  lattice.draws = 3;
  BlockSums tile = zero_sums(2, 1, 0);
  tile.background[0] = {1.0 + 2, 1.0 + 2};
  tile.squares = {5, 5};
  lattice.add_tile(0, tile);
  tile.background[0] = {3, 4};
  tile.squares = {9, 16};
  lattice.add_tile(1, tile);
  EXPECT_EQ(lattice.means(), (std::vector<double>{2, 7.0 / 3}));
  EXPECT_EQ(lattice.instance[0], (std::vector<double>{3, 3}));
  EXPECT_EQ(lattice.instance[1], (std::vector<double>{3, 4}));
  EXPECT_EQ(lattice.sums.background[0], (std::vector<double>{6, 7}));
  EXPECT_NEAR(lattice.variances()[0], 1, 1e-14);
  EXPECT_NEAR(lattice.variances()[1], 7.0 / 3, 1e-14);
}

TEST(Lattice, VarianceIsNeverNegativeAndOfOneDrawZero) {
  Lattice lattice = Lattice::zeros(2, 1, 1, 0);
  lattice.draws = 3;
  BlockSums tile = zero_sums(2, 1, 0);
  tile.background[0] = {0.3, 3e8};
  tile.squares = {3 * 0.1 * 0.1 * (1 - 1e-15), 3e16 * (1 - 1e-15)};
  lattice.add_tile(0, tile);
  for (const double v : lattice.variances()) EXPECT_GE(v, 0);
  lattice.draws = 1;
  for (const double v : lattice.variances()) EXPECT_EQ(v, 0);
}

TEST(Lattice, PartitionsAgreeOnTheTotal) {
  RandomStream random(1, Purpose::probe);
  Lattice lattice = Lattice::zeros(8, 4, 3, 2);
  for (std::size_t b = 0; b < 4; ++b) {
    BlockSums tile = zero_sums(8, 3, 2);
    for (std::size_t s = 0; s < 8; ++s) {
      for (int draw = 0; draw < 20; ++draw) {
        const double loss = static_cast<double>(random.below(1000));
        tile.background[random.below(3)][s] += loss;
        tile.round[random.below(2)][s] += loss;
      }
    }
    lattice.add_tile(b, tile);
  }
  for (std::size_t s = 0; s < 8; ++s) {
    const auto total = [&](const std::vector<std::vector<double>>& blocks) {
      double sum = 0;
      for (const auto& block : blocks) sum += block[s];
      return sum;
    };
    EXPECT_EQ(total(lattice.instance), total(lattice.sums.background));
    EXPECT_EQ(total(lattice.instance), total(lattice.sums.round));
  }
}

TEST(Lattice, ClearedSumsAreZero) {
  BlockSums sums = zero_sums(2, 1, 1);
  sums.background[0][1] = sums.round[0][0] = sums.squares[1] = 5;
  clear(sums);
  EXPECT_EQ(sums.background[0], (std::vector<double>{0, 0}));
  EXPECT_EQ(sums.round[0], (std::vector<double>{0, 0}));
  EXPECT_EQ(sums.squares, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace hifi
