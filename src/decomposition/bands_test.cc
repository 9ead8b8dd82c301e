#include "decomposition/bands.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "stats/concentration.h"
#include "stats/student.h"

namespace hifi {
namespace {

struct World {
  std::vector<double> losses, variances;
  BandInput input;

  World() {
    RandomStream random(2, Purpose::probe);
    for (int s = 0; s < 16; ++s) {
      losses.push_back(random.uniform());
      variances.push_back(0.05 + 0.1 * random.uniform());
    }
    input = {.players = 4, .losses = losses, .variances = variances, .draws = 5000, .loss_range = 1.0};
  }
  ScanResult run(Band band) const {
    Workers workers(1);
    ScanResult scan = scan_dense(4, losses, {}, workers);
    put_bands(scan, input, band, workers);
    return scan;
  }
};

TEST(Bands, EqualRadiiArePropagatedByTwoAndFour) {
  const World world;
  for (const Band band : {Band::hoeffding, Band::paper}) {
    const double e =
        band == Band::hoeffding
            ? std::sqrt(std::log(2 * 16 / 0.05) / (2 * 5000))
            : t_quantile(0.975, 4999) *
                  std::sqrt(*std::max_element(world.variances.begin(), world.variances.end()) / 5000);
    const ScanResult scan = world.run(band);
    for (const FeatureProfile& f : scan.features) {
      for (const Quantity* q : {&f.U, &f.Lmax, &f.pi, &f.last}) {
        EXPECT_NEAR(*q->low, *q->plugin - 2 * e, 1e-12);
        EXPECT_NEAR(*q->high, *q->plugin + 2 * e, 1e-12);
      }
      for (const Quantity* q : {&f.R, &f.S}) {
        EXPECT_NEAR(*q->low, std::max(0.0, *q->plugin - 4 * e), 1e-12);
        EXPECT_NEAR(*q->high, *q->plugin == 0 ? *q->high : *q->plugin + 4 * e, 1e-12);
      }
    }
    for (const PairProfile& p : scan.pairs) {
      EXPECT_NEAR(*p.S.low, std::max(0.0, *p.S.plugin - 4 * e), 1e-12);
      if (*p.R.plugin > 0) {
        EXPECT_NEAR(*p.R.high, *p.R.plugin + 4 * e, 1e-12);
      }
    }
  }
}

// Whatever the losses are within their radii, the numbers stay within their ends.
TEST(Bands, HoldEveryVocabularyWithinTheRadii) {
  const World world;
  const std::vector<double> radii = band_radii(world.input, Band::bernstein);
  EXPECT_NEAR(radii[3], bernstein_radius(world.variances[3], 1, 5000, 0.05 / 16), 1e-15);
  const ScanResult bands = world.run(Band::bernstein);
  Workers workers(1);
  double nearest = HUGE_VAL;
  for (std::uint64_t r = 0; r < 500; ++r) {
    RandomStream random(r, Purpose::probe);
    std::vector<double> moved = world.losses;
    for (std::size_t s = 0; s < moved.size(); ++s) moved[s] += random.uniform() < 0.5 ? radii[s] : -radii[s];
    const ScanResult scan = scan_dense(4, moved, {}, workers);
    for (std::size_t i = 0; i < 4; ++i) {
      const FeatureProfile& f = scan.features[i];
      const FeatureProfile& b = bands.features[i];
      for (const auto q : {&FeatureProfile::U, &FeatureProfile::R, &FeatureProfile::S, &FeatureProfile::pi,
                           &FeatureProfile::Lmax, &FeatureProfile::last}) {
        EXPECT_LE(*(b.*q).low, *(f.*q).value + 1e-12);
        EXPECT_GE(*(b.*q).high, *(f.*q).value - 1e-12);
      }
      nearest = std::min(nearest, *b.Lmax.high - *f.Lmax.value);
    }
    for (std::size_t p = 0; p < scan.pairs.size(); ++p) {
      EXPECT_LE(*bands.pairs[p].S.low, *scan.pairs[p].S.value + 1e-12);
      EXPECT_GE(*bands.pairs[p].R.high, *scan.pairs[p].R.value - 1e-12);
    }
  }
  EXPECT_LT(nearest, 1e-12);  // the ends are reached
}

}  // namespace
}  // namespace hifi
