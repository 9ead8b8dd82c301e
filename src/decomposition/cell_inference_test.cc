#include "decomposition/cell_inference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "vocabulary/test_plan.h"

namespace hifi {
namespace {

// All coalitions of a noisy game, by mask; the players of `idle` change nothing.
struct World {
  std::size_t players;
  RunPlan plan = test_plan();
  Lattice lattice;

  World(std::size_t n, std::size_t draws, std::size_t blocks, double effect, std::size_t idle = 0)
      : players(n), lattice(Lattice::zeros(std::size_t{1} << n, blocks, blocks, blocks)) {
    plan.players.assign(n, "p");
    reshape(plan, draws, blocks, blocks, blocks);
    plan.instances = draws;
    plan.pairs = 100 * draws;
    lattice.draws = draws;
    RandomStream random(n, Purpose::probe);
    std::vector<double> clean;
    for (std::size_t s = 0; s < lattice.size(); ++s) clean.push_back(effect * random.normal());
    // Slices as in reshape(): block b has the draws from draws * b / blocks on.
    std::size_t block = 0;
    std::vector<double> noise(lattice.size());
    for (std::size_t d = 0; d < draws; ++d) {
      while (draws * (block + 1) / blocks <= d) ++block;
      const double shared = random.normal();
      for (double& x : noise) x = random.normal();
      for (std::size_t s = 0; s < lattice.size(); ++s) {
        const std::size_t same = s & ~idle;
        const double loss = 1 + clean[same] + .3 * shared + .1 * noise[same];
        lattice.instance[block][s] += loss;
        lattice.sums.background[(block + 3) % blocks][s] += loss;
        lattice.sums.round[block][s] += loss;
        lattice.sums.squares[s] += loss * loss;
      }
    }
    std::rotate(plan.background_weights.begin(), plan.background_weights.end() - 3 % blocks,
                plan.background_weights.end());
  }

  ScanResult dense(const InferenceOptions& options) const {
    Workers workers(1);
    const std::vector<double> losses = lattice.means();
    ScanResult scan = scan_dense(players, losses, {}, workers);
    infer(scan,
          {players, losses, population_noise(lattice, losses, plan), montecarlo_noise(lattice, losses, plan)},
          options, workers);
    return scan;
  }

  // The same coalitions as a list in a random order.
  ScanResult cells(const InferenceOptions& options, std::size_t threads) const {
    Workers workers(threads);
    const std::vector<std::uint32_t> order = RandomStream(5, Purpose::probe).permutation(lattice.size());
    Lattice mixed = lattice;
    std::vector<Coalition> coalitions;
    for (const std::uint32_t mask : order) coalitions.push_back(Coalition::from_mask(players, mask));
    const auto reorder = [&](std::vector<double>& to, const std::vector<double>& from) {
      for (std::size_t c = 0; c < order.size(); ++c) to[c] = from[order[c]];
    };
    for (std::size_t b = 0; b < lattice.instance.size(); ++b) {
      reorder(mixed.instance[b], lattice.instance[b]);
      reorder(mixed.sums.background[b], lattice.sums.background[b]);
      reorder(mixed.sums.round[b], lattice.sums.round[b]);
    }
    reorder(mixed.sums.squares, lattice.sums.squares);
    const std::vector<double> means = mixed.means();
    const SeenLattice seen(players, coalitions, workers);
    ScanResult scan = scan_sparse(seen, means, {}, workers);
    const Noise rows = population_noise(mixed, means, plan);
    const Noise draws = montecarlo_noise(mixed, means, plan);
    const SharedDraws interval(means, options.population ? rows : draws);
    infer_cells(scan, seen, interval, SharedDraws(means, draws), options, workers);
    return scan;
  }
};

void expect_near(const std::optional<double>& a, const std::optional<double>& b, const std::string& what) {
  ASSERT_EQ(a.has_value(), b.has_value()) << what;
  if (a) {
    EXPECT_NEAR(*a, *b, 2e-6) << what;  // influences are floats
  }
}

void expect_same(const Quantity& a, const Quantity& b, const std::string& what) {
  expect_near(a.value, b.value, what + " value");
  expect_near(a.plugin, b.plugin, what + " plugin");
  expect_near(a.low, b.low, what + " low");
  expect_near(a.high, b.high, what + " high");
  expect_near(a.population, b.population, what + " population");
  EXPECT_EQ(a.context, b.context) << what;
}

void expect_same(const ScanResult& a, const ScanResult& b) {
  for (std::size_t i = 0; i < a.features.size(); ++i) {
    const std::string who = "player " + std::to_string(i);
    expect_same(a.features[i].U, b.features[i].U, who + " U");
    expect_same(a.features[i].R, b.features[i].R, who + " R");
    expect_same(a.features[i].S, b.features[i].S, who + " S");
    expect_same(a.features[i].pi, b.features[i].pi, who + " pi");
    expect_same(a.features[i].Lmax, b.features[i].Lmax, who + " Lmax");
    expect_same(a.features[i].last, b.features[i].last, who + " last");
  }
  ASSERT_EQ(a.pairs.size(), b.pairs.size());
  for (std::size_t k = 0; k < a.pairs.size(); ++k) {
    expect_same(a.pairs[k].S, b.pairs[k].S, "pair " + std::to_string(k) + " S");
    expect_same(a.pairs[k].R, b.pairs[k].R, "pair " + std::to_string(k) + " R");
  }
}

TEST(CellInference, ACompleteListIsALattice) {
  for (const double effect : {0.0, .5}) {  // all tied, one clear winner
    for (const Population population : {Population::rows, Population::both}) {
      World world(5, 160, 16, effect);
      world.plan.population = population;
      for (const bool is_population : {true, false}) {
        const InferenceOptions options{.population = is_population};
        const ScanResult dense = world.dense(options);
        ASSERT_TRUE(dense.features[0].U.low && dense.features[0].U.high);
        ASSERT_LT(*dense.features[0].U.low, *dense.features[0].U.high);
        expect_same(world.cells(options, 3), dense);
      }
    }
  }
}

// More than a thousand near-maximisers: chosen on one half of the blocks, measured on the other.
TEST(CellInference, ACompleteListIsALatticeWhereBlocksAreSplit) {
  const World world(11, 64, 16, 0);
  expect_same(world.cells({}, 2), world.dense({}));
}

TEST(CellInference, APlayerThatChangesNothingIsZero) {
  const World world(5, 160, 16, .1, 0b00100);
  for (const bool is_population : {true, false}) {
    const ScanResult scan = world.cells({.population = is_population}, 2);
    const FeatureProfile& nothing = scan.features[2];
    for (const Quantity* q :
         {&nothing.U, &nothing.R, &nothing.S, &nothing.pi, &nothing.Lmax, &nothing.last}) {
      EXPECT_EQ(q->value, 0.0);
      EXPECT_EQ(q->low, 0.0);
      EXPECT_EQ(q->high, 0.0);
    }
    for (const PairProfile& p : scan.pairs) {
      const bool with_nothing = p.first == 2 || p.second == 2;
      EXPECT_EQ(p.S.low == 0.0 && p.S.high == 0.0 && p.R.high == 0.0, with_nothing);
    }
    // It does not close or open the near ends of the others.
    const FeatureProfile& other = scan.features[0];
    EXPECT_TRUE(other.U.high && other.Lmax.low && other.R.low && other.S.low && other.pi.low);
  }
}

TEST(CellInference, WithoutNoiseTheNumbersAreKnown) {
  World world(4, 64, 8, .3);
  world.plan.exact = true;
  const ScanResult scan = world.cells({.population = false}, 1);
  for (const FeatureProfile& f : scan.features) {
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) {
      EXPECT_EQ(q->value, q->plugin);
      EXPECT_NEAR(*q->low, *q->value, 1e-14);
      EXPECT_NEAR(*q->high, *q->value, 1e-14);
    }
  }
}

// What was not seen is absent, and does not disturb the rest.
TEST(CellInference, ContextsThatWereNotSeenAreLeftOut) {
  Workers workers(1);
  const std::vector<Coalition> coalitions{Coalition(3).with(2), Coalition(3).with(2).with(0),
                                          Coalition(3).with(1)};
  const std::vector<double> losses{1, .25, .5};
  const Noise cells = cell_noise({100, 100, 100}, {1, 4, 9});
  const SeenLattice seen(3, coalitions, workers);
  ScanResult scan = scan_sparse(seen, losses, {}, workers);
  const SharedDraws numbers(losses, cells);
  infer_cells(scan, seen, numbers, numbers, {.population = false}, workers);
  const FeatureProfile& f = scan.features[0];
  EXPECT_EQ(f.U.value, .75);
  const double t = 1.984217;  // Student's, 99 degrees of freedom
  EXPECT_NEAR(*f.U.low, .75 - t * std::sqrt(.05), 1e-5);
  EXPECT_NEAR(*f.Lmax.high, .75 + t * std::sqrt(.05), 1e-5);
  for (const Quantity* q : {&f.pi, &f.R, &f.S, &f.last}) EXPECT_FALSE(q->value || q->low || q->high);
  EXPECT_FALSE(scan.features[1].U.value || scan.features[1].U.low);
  for (const PairProfile& p : scan.pairs) EXPECT_FALSE(p.S.value || p.S.low || p.S.high);
}

}  // namespace
}  // namespace hifi
