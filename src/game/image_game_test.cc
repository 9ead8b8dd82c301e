#include "game/image_game.h"

#include <gtest/gtest.h>

#include <cmath>

#include "game/test_network.h"

namespace hifi {
namespace {

// The mean of the picture as a logit.
TestNetwork mean_network(std::size_t rows) {
  return {{1, 8, 8}, 1, rows, [](std::span<const float> picture, std::span<double> out) {
            out[0] = 0;
            for (const float x : picture) out[0] += static_cast<double>(x) / 64;
          }};
}

struct World {
  Patches patches = grid_patches({2, 2}, 8, 8);
  PatchMask mask{patches, 0};
  ImageInput input{std::vector<float>(64, 1.0F), {std::vector<float>(64, 0.0F), std::vector<float>(64, .5F)}};
  ClassReading reading{ClassMeasure::logit, Link::sigmoid, false, 1};
};

TEST(ImageGame, LossesAreThoseOfMaskedPictures) {
  const TestNetwork network = mean_network(3);
  World w;
  ImageNetwork shown(network, true);
  ImageGame game(shown, w.input, w.mask, w.reading);
  Workers workers(2);
  std::vector<Draw> draws(2);
  draws[1].background = 1;
  std::vector<double> losses(2 * 16);
  game.losses(CoalitionList::lattice(4, 0, 16), draws, losses, workers);
  for (std::size_t c = 0; c < 16; ++c) {
    const double share = std::popcount(c) / 4.0;
    EXPECT_NEAR(losses[c], -share, 1e-6);
    EXPECT_NEAR(losses[16 + c], -(share + .5 * (1 - share)), 1e-6);
  }
  EXPECT_EQ(game.model_use().rows, 32U);
  EXPECT_EQ(network.shown(), 32U);  // the padding of batches is not counted
}

TEST(ImageGame, AnswersDoNotDependOnBatchesOrThreads) {
  World w;
  std::vector<Coalition> coalitions;
  for (std::uint64_t mask = 0; mask < 16; ++mask) coalitions.push_back(Coalition::from_mask(4, mask));
  std::vector<std::vector<double>> all;
  for (const std::size_t rows : {1U, 5U, 64U}) {
    for (const std::size_t threads : {1U, 3U}) {
      const TestNetwork network = mean_network(rows);
      ImageNetwork shown(network, true);
      ImageGame game(shown, w.input, w.mask, w.reading);
      Workers workers(threads);
      std::vector<Reading> readings(32);
      game.readings(coalitions, readings, workers);
      std::vector<double> logits;
      for (const Reading& r : readings) logits.push_back(r.logit);
      all.push_back(logits);
    }
  }
  for (const auto& logits : all) EXPECT_EQ(logits, all[0]);
}

}  // namespace
}  // namespace hifi
