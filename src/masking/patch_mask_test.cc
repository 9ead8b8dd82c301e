#include "masking/patch_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/random.h"
#include "hifi/error.h"
#include "masking/fill.h"

namespace hifi {
namespace {

Planes random_planes(std::size_t channels, std::size_t height, std::size_t width, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::planted_noise);
  Planes planes{channels, height, width, {}};
  for (std::size_t k = 0; k < channels * height * width; ++k)
    planes.values.push_back(static_cast<float>(stream.uniform()));
  return planes;
}

Coalition random_coalition(std::size_t players, RandomStream& stream) {
  Coalition c(players);
  for (std::size_t i = 0; i < players; ++i) {
    if (stream.below(2) == 1) c.insert(i);
  }
  return c;
}

TEST(Patches, GridHasTheBoundariesOfTheContract) {
  const Patches patches = grid_patches({3, 2}, 10, 7);
  EXPECT_EQ(patches.rows, (std::vector<std::size_t>{0, 3, 6, 10}));
  EXPECT_EQ(patches.columns, (std::vector<std::size_t>{0, 3, 7}));
  EXPECT_EQ(patches.names, (std::vector<std::string>{"r0c0", "r0c1", "r1c0", "r1c1", "r2c0", "r2c1"}));
  EXPECT_EQ(patches.owner[0], 0U);
  EXPECT_EQ(patches.owner[9 * 7 + 6], 5U);
  EXPECT_EQ(patches.owner[3 * 7 + 2], 2U);
  const Patches shifted = grid_patches({3, 2}, 10, 7, true, true);
  EXPECT_EQ(shifted.rows, (std::vector<std::size_t>{0, 1, 5, 8, 10}));
  EXPECT_EQ(shifted.columns, (std::vector<std::size_t>{0, 1, 5, 7}));
  EXPECT_EQ(shifted.players(), 12U);
}

TEST(Patches, RefusesWhatDoesNotFit) {
  EXPECT_THROW(grid_patches({11, 2}, 10, 10), Error);
  EXPECT_THROW(grid_patches({6, 2}, 10, 10, true, true), Error);  // halves of one pixel
  EXPECT_THROW(grid_patches({28, 29}, 100, 100), Error);
  EXPECT_NO_THROW(grid_patches({28, 28}, 100, 100));
  for (const char* text : {"", "7", "7x", "x7", "0x7", "7x7x7", "-1x2", "7 x 7"})
    EXPECT_THROW(Grid::parse(text), Error);
  EXPECT_EQ(Grid::parse("14x3").columns, 3U);
}

TEST(Patches, NeighboursOfAGridAreTheEightAround) {
  const auto lists = neighbours(grid_patches({3, 3}, 9, 9));
  EXPECT_EQ(lists[4], (std::vector<std::uint32_t>{0, 1, 2, 3, 5, 6, 7, 8}));
  EXPECT_EQ(lists[0], (std::vector<std::uint32_t>{1, 3, 4}));
}

TEST(Patches, SegmentsFollowTheLabelsAndLeaveZeroAlone) {
  const Image mask{4, 4, 1, 255, {0, 0, 5, 5, 0, 0, 5, 5, 9, 9, 0, 0, 9, 9, 0, 0}};
  const std::vector<std::uint32_t> labels = mask_labels(mask, "mask");
  EXPECT_EQ(labels, (std::vector<std::uint32_t>{5, 9}));
  Recipe recipe = Recipe::parse(R"({"size":[8,8],"channels":"grey"})", "test");
  const Patches patches = segment_patches(mask, labels, recipe);
  EXPECT_EQ(patches.names, (std::vector<std::string>{"s5", "s9"}));
  EXPECT_EQ(patches.owner[0], kNoPatch);
  EXPECT_EQ(patches.owner[7], 0U);
  EXPECT_EQ(patches.owner[7 * 8], 1U);
  EXPECT_EQ(patches.owner[3 * 8 + 3], kNoPatch);
  EXPECT_EQ(patches.owner[3 * 8 + 4], 0U);
}

// Shares are whole numbers: patches can be taken in any order, together they are the image.
TEST(PatchMask, SharesAddUpToTheWholeAtEveryPixel) {
  RandomStream stream(1, Purpose::planted_noise);
  Patches holes = grid_patches({4, 5}, 30, 40);
  for (std::size_t p = 0; p < 300; ++p) holes.owner[p * 4] = kNoPatch;
  for (const Patches& patches :
       {grid_patches({7, 7}, 84, 84), grid_patches({7, 6}, 50, 61, true, false), holes}) {
    for (const double feather : {0.0, .5, 2.0}) {
      const PatchMask mask(patches, feather);
      std::vector<std::int16_t> all(mask.pixels()), none(mask.pixels()), some(mask.pixels()),
          rest(mask.pixels());
      mask.shares(Coalition::full(patches.players()), all);
      mask.shares(Coalition(patches.players()), none);
      const Coalition c = random_coalition(patches.players(), stream);
      Coalition complement(patches.players());
      for (std::size_t i = 0; i < patches.players(); ++i) {
        if (!c.contains(i)) complement.insert(i);
      }
      mask.shares(c, some);
      mask.shares(complement, rest);
      for (std::size_t p = 0; p < mask.pixels(); ++p) {
        ASSERT_EQ(all[p], PatchMask::kWhole);
        ASSERT_GE(none[p], 0);
        ASSERT_EQ(some[p] + rest[p], PatchMask::kWhole + none[p]);
        ASSERT_GE(some[p], 0);
        ASSERT_LE(some[p], PatchMask::kWhole);
      }
    }
  }
}

TEST(PatchMask, HardEdgesShowExactlyThePatches) {
  const Patches patches = grid_patches({3, 3}, 10, 11);
  const PatchMask mask(patches, 0);
  RandomStream stream(2, Purpose::planted_noise);
  std::vector<std::int16_t> shares(mask.pixels());
  for (int k = 0; k < 20; ++k) {
    const Coalition c = random_coalition(9, stream);
    mask.shares(c, shares);
    for (std::size_t p = 0; p < mask.pixels(); ++p)
      ASSERT_EQ(shares[p], c.contains(patches.owner[p]) ? PatchMask::kWhole : 0);
  }
}

// A straight edge softened by a Gaussian of 2 pixels is the normal distribution function of the distance.
TEST(PatchMask, SoftEdgesFollowTheGaussian) {
  const PatchMask mask(grid_patches({1, 2}, 20, 40), 2);
  std::vector<std::int16_t> shares(mask.pixels());
  Coalition left(2);
  left.insert(0);
  mask.shares(left, shares);
  for (std::size_t x = 0; x < 40; ++x) {
    const double expected = .5 * std::erfc((static_cast<double>(x) - 19.5) / 2 / std::sqrt(2.0));
    EXPECT_NEAR(shares[10 * 40 + x] / 4096.0, expected, .004) << x;
  }
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The identities of masking, after the recipe: all patches show the image, none the fill, bit for bit.
TEST(PatchMask, AllIsTheImageAndNoneTheFillBitForBit) {
  for (const char* text :
       {R"({"size":[21,21],"channels":"rgb","range":[-1,1],"mean":[0.1,0.2,0.3],"std":[2,3,4]})",
        R"({"size":[21,21],"channels":"rgb","layout":"NHWC"})",
        R"({"size":[21,21],"channels":"grey","range":[-1024,1024]})"}) {
    const Recipe recipe = Recipe::parse(text, "test");
    const Planes image = random_planes(recipe.channels, 21, 21, 3);
    const std::vector<float> input = recipe.normalise(image);
    for (const char* name : {"mean", "data-mean", "blur", "noise", "constant:0.25"}) {
      const Fills fills(Fill::parse(name), 7, {}, std::vector<double>(recipe.channels, .4));
      const std::vector<float> fill = recipe.normalise(fills.make(image, 11, 0));
      const PatchMask mask(grid_patches({3, 4}, 21, 21), 2);
      std::vector<std::int16_t> shares(mask.pixels());
      std::vector<float> out(input.size());
      mask.shares(Coalition::full(12), shares);
      mix(shares, input, fill, recipe.channels_first, out.data());
      EXPECT_TRUE(same_bits(out, input)) << name;
      mask.shares(Coalition(12), shares);
      mix(shares, input, fill, recipe.channels_first, out.data());
      EXPECT_TRUE(same_bits(out, fill)) << name;
      EXPECT_FALSE(same_bits(input, fill)) << name;
    }
  }
}

// Between the ends the mixture is that of pixels, mapped by the recipe.
TEST(PatchMask, MixesPixelsBeforeTheNumbersOfTheRecipe) {
  const Recipe recipe = Recipe::parse(
      R"({"size":[12,12],"channels":"rgb","mean":[0.1,0.2,0.3],"std":[2,3,4],"layout":"NHWC"})", "test");
  const Planes image = random_planes(3, 12, 12, 4);
  const Planes fill = random_planes(3, 12, 12, 5);
  const PatchMask mask(grid_patches({2, 2}, 12, 12), 2);
  std::vector<std::int16_t> shares(mask.pixels());
  mask.shares(Coalition::from_mask(4, 0b0110), shares);
  Planes mixed = image;
  for (std::size_t p = 0; p < 144; ++p) {
    for (std::size_t c = 0; c < 3; ++c) {
      const float share = static_cast<float>(shares[p]) / 4096;
      mixed.values[c * 144 + p] = share * image.values[c * 144 + p] + (1 - share) * fill.values[c * 144 + p];
    }
  }
  std::vector<float> out(3 * 144);
  mix(shares, recipe.normalise(image), recipe.normalise(fill), false, out.data());
  const std::vector<float> expected = recipe.normalise(mixed);
  for (std::size_t k = 0; k < out.size(); ++k) EXPECT_NEAR(out[k], expected[k], 1e-6);
}

TEST(Fill, MeansConstantsAndOtherImages) {
  const Planes image{2, 1, 2, {.25F, .75F, .5F, 1}};
  EXPECT_EQ(Fills(Fill::parse("mean"), 0, {}, {}).make(image, 0, 0).values,
            (std::vector<float>{.5F, .5F, .75F, .75F}));
  EXPECT_EQ(Fills(Fill::parse("data-mean"), 0, {}, {.1, .2}).make(image, 0, 0).values,
            (std::vector<float>{.1F, .1F, .2F, .2F}));
  EXPECT_EQ(Fills(Fill::parse("constant:1"), 0, {}, {}).make(image, 0, 0).values,
            (std::vector<float>(4, 1.0F)));
  std::vector<Planes> others;
  for (int k = 0; k < 5; ++k) others.push_back({2, 1, 2, std::vector<float>(4, static_cast<float>(k))});
  const Fills fills(Fill::parse("images:x"), 3, others, {});
  EXPECT_EQ(fills.most_draws(), 5U);
  std::vector<float> seen;
  for (std::size_t draw = 0; draw < 5; ++draw) seen.push_back(fills.make(image, 17, draw).values[0]);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<float>{0, 1, 2, 3, 4}));  // each once
}

TEST(Fill, NoiseIsSeededByImageAndDraw) {
  const Planes image = random_planes(1, 16, 16, 9);
  const Fills fills(Fill::parse("noise"), 3, {}, {});
  EXPECT_EQ(fills.make(image, 1, 0).values, fills.make(image, 1, 0).values);
  EXPECT_NE(fills.make(image, 1, 0).values, fills.make(image, 1, 1).values);
  EXPECT_NE(fills.make(image, 1, 0).values, Fills(Fill::parse("noise"), 4, {}, {}).make(image, 1, 0).values);
}

TEST(Fill, RefusesOtherWords) {
  for (const char* text : {"", "black", "constant:", "constant:2", "constant:-0.1", "constant:x", "images:"})
    EXPECT_THROW(Fill::parse(text), Error) << text;
}

}  // namespace
}  // namespace hifi
