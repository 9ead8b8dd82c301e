#include "decomposition/contrast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "decomposition/contrast_kernels.h"

namespace hifi {
namespace {

constexpr std::size_t kPlayers = 6;

// Random influences of losses of a given size.
Noise random_noise(std::size_t blocks, double unit) {
  Noise noise{.kind = Noise::Kind::blocks, .stride = padded(blocks), .unit = unit};
  noise.rows.parts = {blocks};
  RandomStream random(3, Purpose::probe);
  noise.influence.assign(noise.stride << kPlayers, 0.0F);
  for (std::size_t s = 0; s < std::size_t{1} << kPlayers; ++s) {
    for (std::size_t g = 0; g < blocks; ++g)
      noise.influence[s * noise.stride + g] = static_cast<float>(random.normal());
  }
  noise.scale = unit;
  return noise;
}

double influence(const Noise& noise, std::size_t mask, std::size_t g) {
  return noise.unit * static_cast<double>(noise.of(mask)[g]);
}

TEST(Contrast, ErrorsAreRootsOfSumsOfSquares) {
  for (const double unit : {1.0, 0x1p-300, 0x1p300}) {
    const Noise noise = random_noise(13, unit);
    std::vector<double> plain, measured, mixed, out(13);
    for (std::size_t i = 0; i < kPlayers; ++i) {
      const Contrast gain = Contrast::gain(kPlayers, i);
      gain.errors(noise, false, plain);
      gain.errors(noise, true, measured);
      const std::size_t b = std::size_t{1} << i;
      for (std::size_t k = 0; k < gain.contexts(); ++k) {
        const std::size_t c = gain.context(k);
        ASSERT_EQ(c & b, 0U);
        double squares = 0, from_empty = 0;
        gain.influence(noise, k, out);
        for (std::size_t g = 0; g < 13; ++g) {
          const double x = influence(noise, c, g) - influence(noise, c | b, g);
          const double empty = influence(noise, 0, g) - influence(noise, b, g);
          EXPECT_EQ(out[g], x);
          squares += x / unit * (x / unit);
          from_empty += (x - empty) / unit * ((x - empty) / unit);
        }
        EXPECT_NEAR(plain[k] / unit, std::sqrt(squares), 1e-6 * std::sqrt(squares));
        EXPECT_NEAR(measured[k] / unit, std::sqrt(from_empty), 1e-6 * std::sqrt(from_empty));
      }
      for (std::size_t j = i + 1; j < kPlayers; ++j) {
        const Contrast difference = Contrast::mixed_difference(kPlayers, i, j);
        difference.errors(noise, false, mixed);
        const std::size_t a = std::size_t{1} << j;
        for (std::size_t k = 0; k < difference.contexts(); ++k) {
          const std::size_t c = difference.context(k);
          double squares = 0;
          for (std::size_t g = 0; g < 13; ++g) {
            const double x = influence(noise, c | b, g) + influence(noise, c | a, g) -
                             influence(noise, c | a | b, g) - influence(noise, c, g);
            squares += x / unit * (x / unit);
          }
          EXPECT_NEAR(mixed[k] / unit, std::sqrt(squares), 1e-6 * std::sqrt(squares));
        }
      }
    }
  }
}

TEST(Contrast, EveryInstructionSetGivesTheSameBits) {
  const Noise noise = random_noise(32, 1);
  const std::vector<float> base(noise.stride, 0.25F);
  const SquaresInput input{noise.influence.data(), noise.stride, 1, 4, base.data()};
  std::vector<float> fast(16), plain(16);
  squares_kernels().mixed(input, 0, 16, fast.data());
  baseline_squares_kernels().mixed(input, 0, 16, plain.data());
  EXPECT_EQ(fast, plain);
  squares_kernels().gain(input, 3, 19, fast.data());
  baseline_squares_kernels().gain(input, 3, 19, plain.data());
  EXPECT_EQ(fast, plain);
}

}  // namespace
}  // namespace hifi
