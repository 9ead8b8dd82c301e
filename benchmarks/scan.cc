// The dense lattice scan: checked against the definitions, then timed.
//
//   scan                            n = 20 with 1 and 2 threads beside one subset-sum transform; n = 24
//   scan TABLE THREADS REPEATS      scans a file of 2^n raw doubles; prints the best times, then the
//                                   profile, one player or pair a line (scan_numpy.py reads this)
#include "decomposition/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "timing.h"

namespace {

using hifi::Quantity;
using hifi::ScanResult;
using hifi::Workers;

using benchmarks::best_of;
using benchmarks::peak_mebibytes;
using benchmarks::print;
using benchmarks::random_table;
using benchmarks::subset_sums;
using benchmarks::Time;

ScanResult scan(std::size_t players, const std::vector<double>& losses, std::size_t threads) {
  Workers workers(threads);
  return hifi::scan_dense(players, losses, {}, workers);
}

// What must hold for random losses, where nothing ties: the definitions, one context at a time.
bool is_right(std::size_t players, const std::vector<double>& losses, const ScanResult& result) {
  const auto bit = [](std::size_t i) { return std::size_t{1} << i; };
  bool right = true;
  std::size_t pair = 0;
  for (std::size_t i = 0; i < players; ++i) {
    double low = INFINITY, high = -INFINITY;
    for (std::size_t c = 0; c < losses.size(); ++c) {
      if (c & bit(i)) continue;
      low = std::min(low, losses[c] - losses[c | bit(i)]);
      high = std::max(high, losses[c] - losses[c | bit(i)]);
    }
    right = right && result.features[i].U.value == low && result.features[i].Lmax.value == high;
    for (std::size_t j = i + 1; j < players; ++j, ++pair) {
      double redundancy = 0, synergy = 0;
      for (std::size_t c = 0; c < losses.size(); ++c) {
        if (c & (bit(i) | bit(j))) continue;
        const double d =
            (losses[c | bit(j)] - losses[c | bit(i) | bit(j)]) - (losses[c] - losses[c | bit(i)]);
        redundancy = std::max(redundancy, -d);
        synergy = std::max(synergy, d);
      }
      right = right && result.pairs[pair].S.value == synergy && result.pairs[pair].R.value == redundancy;
    }
  }
  return right;
}

int own_report() {
  constexpr std::size_t kPlayers = 20;
  std::vector<double> losses = random_table(kPlayers);
  for (const std::size_t threads : {1U, 2U}) {
    if (!is_right(kPlayers, losses, scan(kPlayers, losses, threads))) {
      fmt::print(stderr, "the scan is wrong\n");
      return 1;
    }
  }
  std::vector<double> sums = losses;
  const Time transform = best_of(9, [&] { subset_sums(sums.data(), kPlayers); });
  print("n=20 subset-sum transform, 1 thread", transform);
  for (const std::size_t threads : {1U, 2U}) {
    Workers workers(threads);
    const Time time = best_of(9, [&] { hifi::scan_dense(kPlayers, losses, {}, workers); });
    print(threads == 1 ? "\nn=20 scan, 1 thread" : "\nn=20 scan, 2 threads", time);
    fmt::print("; {:.1f} and {:.1f} transforms", time.clock / transform.clock,
               time.processor / transform.processor);
  }
  const std::vector<double> constant(losses.size(), 0.25);
  Workers workers(2);
  print("\nn=20 scan, 2 threads, everything ties",
        best_of(9, [&] { hifi::scan_dense(kPlayers, constant, {}, workers); }));

  losses = random_table(24);
  const long before = peak_mebibytes();
  print("\nn=24 scan, 2 threads", best_of(1, [&] { hifi::scan_dense(24, losses, {}, workers); }));
  fmt::print("; peak {} MiB, {} MiB before the scan\n", peak_mebibytes(), before);
  return 0;
}

void print(const Quantity& q) {
  fmt::print(" {}", *q.value);
  if (!q.context) {
    fmt::print(" -1");
    return;
  }
  std::uint64_t mask = 0;
  for (const std::uint32_t i : *q.context) mask |= std::uint64_t{1} << i;
  fmt::print(" {}", mask);
}

int report_on_file(const std::string& path, std::size_t threads, int repeats) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<std::size_t>(file.tellg());
  std::vector<double> losses(bytes / sizeof(double));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(losses.data()), static_cast<std::streamsize>(bytes));
  if (!file) {
    fmt::print(stderr, "cannot read {}\n", path);
    return 1;
  }
  const auto players = static_cast<std::size_t>(std::countr_zero(losses.size()));
  const ScanResult result = scan(players, losses, threads);
  Workers workers(threads);
  const Time time = best_of(repeats, [&] { hifi::scan_dense(players, losses, {}, workers); });
  fmt::print("{} {}\n", time.clock, time.processor);
  for (const hifi::FeatureProfile& f : result.features) {
    fmt::print("player {} {} {}", f.gain->q05, f.gain->q50, f.gain->q95);
    for (const Quantity* q : {&f.U, &f.R, &f.S, &f.pi, &f.Lmax, &f.last}) print(*q);
    fmt::print("\n");
  }
  for (const hifi::PairProfile& p : result.pairs) {
    fmt::print("pair");
    print(p.S);
    print(p.R);
    fmt::print("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return own_report();
  if (argc == 4) return report_on_file(argv[1], std::strtoul(argv[2], nullptr, 10), std::atoi(argv[3]));
  fmt::print(stderr, "usage: scan [TABLE THREADS REPEATS]\n");
  return 2;
}
