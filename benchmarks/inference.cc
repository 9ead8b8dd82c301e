// The statistics of a profile: intervals and corrected values of all players and pairs, timed.
//
//   inference                 checks that threads do not matter, then times n = 8, 12, 16, 20
//   inference PLAYERS KIND    prints every number of one lattice: planted, flat, sampled
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/random.h"
#include "decomposition/inference.h"
#include "decomposition/noise.h"
#include "decomposition/scan.h"

namespace {

using namespace hifi;

constexpr std::size_t kBlocks = 32;
constexpr double kWeight = 64;  // draws per block

struct World {
  RunPlan plan;
  Lattice lattice;
};

// Effects of single players, of pairs and of triples, summed up over subsets.
std::vector<double> game(std::size_t players, RandomStream& random, double scale) {
  std::vector<double> values(std::size_t{1} << players, 0.0);
  const auto bit = [](std::size_t i) { return std::size_t{1} << i; };
  for (std::size_t i = 0; i < players; ++i) {
    values[bit(i)] = scale * random.normal();
    values[bit(i) | bit((i + 1) % players)] = scale * random.normal() / 2;
    values[bit(i) | bit((i + 2) % players) | bit((i + 5) % players)] = scale * random.normal() / 4;
  }
  for (std::size_t i = 0; i < players; ++i) {
    for (std::size_t s = 0; s < values.size(); ++s) {
      if (s & bit(i)) values[s] += values[s ^ bit(i)];
    }
  }
  return values;
}

std::vector<double> block(std::size_t players, bool flat, std::uint64_t index) {
  RandomStream random(1, Purpose::probe, index);
  if (!flat) return game(players, random, 0.5);
  std::vector<double> values(std::size_t{1} << players);
  for (double& v : values) v = 0.5 * random.normal();
  return values;
}

// Blocks of one partition: `sum` / kBlocks plus noise of mean 0. Without `sum` the noise makes it.
void fill(std::vector<std::vector<double>>& to, std::size_t players, bool flat, std::uint64_t index,
          const std::vector<double>& mean, std::vector<double>& sum) {
  const bool first = sum.empty();
  std::vector<double> total(mean.size(), 0.0);
  for (std::size_t g = 0; g < kBlocks; ++g) {
    to[g] = block(players, flat, index + g);
    for (std::size_t s = 0; s < mean.size(); ++s) total[s] += to[g][s];
  }
  for (std::size_t g = 0; g < kBlocks; ++g) {
    for (std::size_t s = 0; s < mean.size(); ++s) {
      to[g][s] = first ? kWeight * (mean[s] + to[g][s])
                       : sum[s] / kBlocks + kWeight * (to[g][s] - total[s] / kBlocks);
    }
  }
  if (!first) return;
  sum.assign(mean.size(), 0.0);
  for (const auto& one : to) {
    for (std::size_t s = 0; s < mean.size(); ++s) sum[s] += one[s];
  }
}

World make(std::size_t players, const std::string& kind) {
  const bool flat = kind == "flat";
  const bool exact = kind != "sampled";
  World world{.lattice = Lattice::zeros(players, kBlocks, kBlocks, exact ? 0 : kBlocks)};
  RandomStream random(1, Purpose::planted_game);
  const std::vector<double> mean =
      flat ? std::vector<double>(std::size_t{1} << players, 1.0) : game(players, random, -1.0);
  std::vector<double> sum;
  fill(world.lattice.instance, players, flat, 1000, mean, sum);
  fill(world.lattice.sums.background, players, flat, 2000, mean, sum);
  if (!exact) fill(world.lattice.sums.round, players, flat, 3000, mean, sum);
  world.lattice.draws = static_cast<std::uint64_t>(kWeight) * kBlocks;
  RunPlan& plan = world.plan;
  plan.draws = world.lattice.draws;
  plan.exact = exact;
  plan.instances = 512;
  plan.pairs = std::uint64_t{512} * 512;
  plan.population = Population::rows;
  const std::vector<std::uint64_t> weights(kBlocks, static_cast<std::uint64_t>(kWeight));
  plan.instance_weights = plan.background_weights = weights;
  if (!exact) plan.round_weights = weights;
  return world;
}

ScanResult analyse(const World& world, std::size_t threads, double* seconds) {
  Workers workers(threads);
  const std::vector<double> losses = world.lattice.means();
  ScanResult scan = scan_dense(world.lattice.players, losses, {}, workers);
  const auto start = std::chrono::steady_clock::now();
  const Noise rows = population_noise(world.lattice, losses, world.plan);
  const Noise draws = montecarlo_noise(world.lattice, losses, world.plan);
  infer(scan, {world.lattice.players, losses, rows, draws}, {}, workers);
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return scan;
}

std::string text(const Quantity& q) {
  const auto number = [](const std::optional<double>& x) { return x ? fmt::format("{}", *x) : "null"; };
  return fmt::format("{} {} {} {}\n", number(q.value), number(q.low), number(q.high), number(q.population));
}

std::string text(const ScanResult& scan) {
  std::string lines;
  for (const FeatureProfile& f : scan.features) {
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) lines += text(*q);
  }
  for (const PairProfile& p : scan.pairs) lines += text(p.S) + text(p.R);
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  if (argc == 3) {
    fmt::print("{}", text(analyse(make(std::strtoul(argv[1], nullptr, 10), argv[2]), 0, &seconds)));
    return 0;
  }
  fmt::print("seconds of the statistics, 1 thread and one per core\n");
  for (const std::size_t players : {8U, 12U, 16U, 20U}) {
    for (const char* kind : {"planted", "flat", "sampled"}) {
      const World world = make(players, kind);
      double one = 0;
      const std::string expected = text(analyse(world, 1, &one));
      if (text(analyse(world, 0, &seconds)) != expected) {
        fmt::print(stderr, "the numbers depend on the threads\n");
        return 1;
      }
      fmt::print("n = {:2}, {:8} {:8.3f} {:8.3f}\n", players, kind, one, seconds);
    }
  }
}
