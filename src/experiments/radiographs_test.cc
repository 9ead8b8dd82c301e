#include "experiments/radiographs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/hash.h"
#include "experiments/radiograph_parts.h"

namespace hifi {
namespace {

bool contains(const FindingBox& box, std::size_t y, std::size_t x) {
  const int row = static_cast<int>(y), column = static_cast<int>(x);
  return column >= box.x && column < box.x + box.width && row >= box.y && row < box.y + box.height;
}

TEST(RadiographParts, WaveIsNearASineAndStepsAreSymmetric) {
  for (double x = -2; x < 2; x += 0.01) {
    EXPECT_NEAR(wave(x), std::sin(2 * 3.14159265358979 * x), 0.06);
    EXPECT_NEAR(soft_step(x) + soft_step(-x), 1, 1e-15);
  }
  EXPECT_NEAR((soft_step(1e-5) - soft_step(-1e-5)) / 2e-5, 0.25, 1e-8);
  EXPECT_GT(soft_step(20), 0.99);
}

TEST(RadiographParts, BellHasMeanZeroAndVarianceOne) {
  RandomStream random(1, Purpose::radiographs, 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const double value = bell(random);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

TEST(Radiographs, AreTheSameBytesForTheSameSeed) {
  const Findings findings{.nodules = 1, .cavity = true, .streaks = true};
  const Radiograph image = make_radiograph(7, 3, findings);
  EXPECT_EQ(image.pixels, make_radiograph(7, 3, findings).pixels);
  EXPECT_NE(image.pixels, make_radiograph(7, 4, findings).pixels);
  EXPECT_NE(image.pixels, make_radiograph(8, 3, findings).pixels);
  // The shipped networks know these bytes: a change of the generator needs new networks.
  std::string bytes;
  for (const TestRadiograph& test : make_test_radiographs(2026, 5))
    bytes.append(test.image.pixels.begin(), test.image.pixels.end());
  EXPECT_EQ(hex_hash(bytes), "bc9eb1ac3f7341175598eea63024cbad");
}

TEST(Radiographs, HaveTheFindingsAskedFor) {
  for (std::uint64_t index = 0; index < 200; ++index) {
    const Findings findings = training_findings(5, index);
    const Radiograph image = make_radiograph(5, index, findings);
    std::map<Finding, int> count;
    for (const FindingBox& box : image.boxes) {
      ++count[box.finding];
      EXPECT_GE(std::min(box.x, box.y), 0);
      EXPECT_LE(box.x + box.width, static_cast<int>(kRadiographSize));
      EXPECT_LE(box.y + box.height, static_cast<int>(kRadiographSize));
      EXPECT_GE(std::min(box.width, box.height), 10);
    }
    EXPECT_EQ(count[Finding::nodule], findings.nodules);
    EXPECT_EQ(count[Finding::cavity], findings.cavity ? 1 : 0);
    EXPECT_EQ(count[Finding::streaks], findings.streaks ? 1 : 0);
    EXPECT_EQ(image.classes[0], findings.nodules > 0);
    EXPECT_EQ(image.classes[1], findings.cavity && findings.streaks);
  }
}

// The same stream gives the same chest up to the first finding; noise differs, so bright pixels that a
// finding adds are looked for in the mean over many images.
TEST(Radiographs, FindingsAreBrighterThanTheirSurroundingsInsideTheirBoxesOnly) {
  double in = 0, around = 0;
  int in_count = 0, around_count = 0;
  for (std::uint64_t index = 0; index < 60; ++index) {
    const Radiograph image = make_radiograph(11, index, {.nodules = 1});
    const FindingBox box = image.boxes.at(0);
    FindingBox wide = box;
    wide.x -= 4, wide.y -= 4, wide.width += 8, wide.height += 8;
    const FindingBox core{box.finding, box.x + box.width / 4, box.y + box.height / 4, box.width / 2,
                          box.height / 2};
    for (std::size_t y = 0; y < kRadiographSize; ++y)
      for (std::size_t x = 0; x < kRadiographSize; ++x) {
        const double value = image.pixels[y * kRadiographSize + x] / 255.0;
        if (contains(core, y, x)) {
          in += value;
          ++in_count;
        } else if (contains(wide, y, x) && !contains(box, y, x)) {
          around += value;
          ++around_count;
        }
      }
  }
  EXPECT_GT(in / in_count - around / around_count, 0.1);
}

TEST(Radiographs, TestImagesKeepTheBoxesOfTheirClass) {
  const auto images = make_test_radiographs(2026, 6);
  ASSERT_EQ(images.size(), 18u);
  for (const TestRadiograph& test : images) {
    EXPECT_TRUE(test.image.classes[test.label]);
    ASSERT_EQ(test.boxes.size(), test.evidence == Evidence::single ? 1u : 2u);
    for (const FindingBox& box : test.boxes)
      EXPECT_EQ(box.finding == Finding::nodule, test.evidence != Evidence::combination);
  }
  EXPECT_EQ(images[7].name, "redundant_001");
  EXPECT_EQ(images[7].image.boxes.size(), 3u);  // a cavity that does not matter
}

}  // namespace
}  // namespace hifi
