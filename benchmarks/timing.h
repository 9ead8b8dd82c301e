// What benchmarks of whole lattices share: times, memory, and the transform that they are measured against.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <functional>
#include <vector>

#include "core/random.h"

namespace benchmarks {

// A complete table of random losses: nothing ties.
inline std::vector<double> random_table(std::size_t players) {
  hifi::RandomStream stream(1, hifi::Purpose::probe);
  std::vector<double> losses(std::size_t{1} << players);
  for (double& loss : losses) loss = stream.uniform();
  return losses;
}

// Processor time of all threads beside the time on the clock: the former hardly changes when others
// use the machine.
struct Time {
  double clock = INFINITY;
  double processor = INFINITY;
};

inline Time best_of(int repeats, const std::function<void()>& run) {
  Time best;
  for (int k = 0; k < repeats; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processor_start = std::clock();
    run();
    const auto processor = static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> clock = std::chrono::steady_clock::now() - start;
    best.clock = std::min(best.clock, clock.count());
    best.processor = std::min(best.processor, processor);
  }
  return best;
}

inline void print(const char* what, const Time& time) {
  fmt::print("{:40}{:9.1f} ms, processor {:9.1f} ms", what, time.clock * 1e3, time.processor * 1e3);
}

// sums(S) = sum over T <= S of values(T): what every index of the lattice costs at least. Low players
// first while a block is in the cache, then one pass per remaining player.
__attribute__((optimize("O3"))) inline void subset_sums(double* values, std::size_t players) {
  const std::size_t low = std::min<std::size_t>(players, 14);
  const auto add = [](double* from, std::size_t half) {
    for (std::size_t k = 0; k < half; ++k) from[half + k] += from[k];
  };
  for (std::size_t block = 0; block < std::size_t{1} << players; block += std::size_t{1} << low) {
    for (std::size_t i = 0; i < low; ++i) {
      for (std::size_t c = 0; c < std::size_t{1} << low; c += std::size_t{2} << i) {
        add(values + block + c, std::size_t{1} << i);
      }
    }
  }
  for (std::size_t i = low; i < players; ++i) {
    for (std::size_t c = 0; c < std::size_t{1} << players; c += std::size_t{2} << i) {
      add(values + c, std::size_t{1} << i);
    }
  }
}

inline long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace benchmarks
