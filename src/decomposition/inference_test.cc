#include "decomposition/inference.h"

#include <gtest/gtest.h>

#include "core/random.h"

namespace hifi {
namespace {

// A lattice of two players that matter and one that changes nothing, with noise by instance block.
struct World {
  static constexpr std::size_t kBlocks = 32;
  RunPlan plan;
  Lattice lattice = Lattice::zeros(8, kBlocks, kBlocks, 0);

  World() {
    plan.draws = kBlocks;
    plan.instances = kBlocks;
    plan.exact = true;
    plan.population = Population::instances;
    plan.instance_weights.assign(kBlocks, 1);
    lattice.draws = kBlocks;
    RandomStream random(1, Purpose::probe);
    for (std::size_t g = 0; g < kBlocks; ++g) {
      double noise[4];
      for (double& x : noise) x = 0.01 * random.normal();
      for (std::size_t mask = 0; mask < 8; ++mask) {
        const double clean =
            1 - 0.3 * static_cast<double>(mask & 1U) - 0.5 * static_cast<double>((mask >> 1) & 1U);
        lattice.instance[g][mask] = clean + noise[mask & 3U];
      }
    }
  }

  ScanResult run(bool population, std::vector<std::uint32_t>& idle) {
    Workers workers(1);
    const std::vector<double> losses = lattice.means();
    ScanResult scan = scan_dense(3, losses, {}, workers);
    const Noise rows = population_noise(lattice, losses, plan);
    const Noise draws = montecarlo_noise(lattice, losses, plan);
    idle = infer(scan, {3, losses, rows, draws}, {.population = population}, workers);
    return scan;
  }
};

TEST(Inference, APlayerThatChangesNothingIsZeroAndDoesNotOpenTheIntervalsOfOthers) {
  std::vector<std::uint32_t> idle;
  const ScanResult scan = World().run(true, idle);
  EXPECT_EQ(idle, (std::vector<std::uint32_t>{2}));
  const FeatureProfile& nothing = scan.features[2];
  for (const Quantity* q : {&nothing.U, &nothing.R, &nothing.S, &nothing.pi, &nothing.Lmax, &nothing.last}) {
    EXPECT_EQ(q->low, 0.0);
    EXPECT_EQ(q->high, 0.0);
  }
  for (const std::size_t i : {0U, 1U}) {
    const FeatureProfile& f = scan.features[i];
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) {
      ASSERT_TRUE(q->low && q->high) << i;
      EXPECT_LE(*q->low, *q->high);
    }
    EXPECT_NEAR(*f.U.value, i == 0 ? 0.3 : 0.5, 0.02);
    EXPECT_LT(*f.U.low, i == 0 ? 0.3 : 0.5);
    EXPECT_GT(*f.U.high, i == 0 ? 0.3 : 0.5);
    EXPECT_DOUBLE_EQ(*f.Lmax.value, *f.U.value + *f.R.value + *f.S.value);
  }
}

TEST(Inference, ExactLatticesHaveNoMonteCarloError) {
  std::vector<std::uint32_t> idle;
  const ScanResult scan = World().run(false, idle);
  for (const FeatureProfile& f : scan.features) {
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) {
      EXPECT_EQ(q->value, q->plugin);
      EXPECT_NEAR(*q->low, *q->value, 1e-15);
      EXPECT_NEAR(*q->high, *q->value, 1e-15);
    }
  }
}

}  // namespace
}  // namespace hifi
