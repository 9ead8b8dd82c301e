// Indices of a table: checked against their definitions, then timed beside a subset-sum transform.
//
//   indices                          n = 20, order 2, each index alone and all together
//   indices TABLE INDEX ORDER        of a file of 2^n raw doubles; prints the best time, then the values
//                                    (indices_shapiq.py reads this)
#include "indices/indices.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "timing.h"

namespace {

using benchmarks::best_of;
using benchmarks::random_table;
using benchmarks::Time;
using hifi::IndexKind;
using hifi::IndexSet;

// SII by its definition: a weighted mean of mixed differences, one context at a time.
double shapley_interaction(const std::vector<double>& losses, int players, std::uint64_t set) {
  const int size = std::popcount(set);
  double sum = 0;
  for (std::uint64_t w = 0; w < losses.size(); ++w) {
    const int t = std::popcount(w & ~set);
    const double weight =
        1 / ((players - size + 1) * std::round(std::exp(std::lgamma(players - size + 1) - std::lgamma(t + 1) -
                                                        std::lgamma(players - size - t + 1))));
    sum -= (std::popcount(w & set) % 2 == size % 2 ? 1 : -1) * weight * losses[w];
  }
  return sum;
}

bool is_right(const std::vector<double>& losses, std::size_t players) {
  const IndexSet set({IndexKind::shapley_interaction, IndexKind::faithful, IndexKind::k_additive}, players,
                     2);
  const auto values = set.evaluate(losses);
  const auto sets = hifi::sets_up_to(players, 2);
  double efficiency = 0;
  for (const double value : values[1]) efficiency += value;
  bool right = std::abs(efficiency - (losses.front() - losses.back())) < 1e-9;
  for (const std::size_t k : {std::size_t{0}, players - 1, players, sets.size() - 1}) {
    std::uint64_t mask = 0;
    for (const std::uint32_t i : sets[k]) mask |= std::uint64_t{1} << i;
    right =
        right && std::abs(values[0][k] - shapley_interaction(losses, static_cast<int>(players), mask)) < 1e-9;
  }
  // At the top order the fit and its SII agree.
  for (std::size_t k = players; k < sets.size(); ++k)
    right = right && std::abs(values[1][k] - values[2][k]) < 1e-12;
  return right;
}

int own_report() {
  constexpr std::size_t kPlayers = 20;
  const std::vector<double> losses = random_table(kPlayers);
  if (!is_right(losses, kPlayers)) {
    fmt::print(stderr, "the indices are wrong\n");
    return 1;
  }
  std::vector<double> sums = losses;
  const Time transform = best_of(9, [&] { benchmarks::subset_sums(sums.data(), kPlayers); });
  benchmarks::print("n=20 subset-sum transform, 1 thread", transform);
  for (const IndexKind kind : hifi::all_indices()) {
    const Time time = best_of(9, [&] { IndexSet({kind}, kPlayers, 2).evaluate(losses); });
    benchmarks::print(fmt::format("\nn=20 {}, order 2", hifi::index_name(kind)).c_str(), time);
    fmt::print("; {:.1f} transforms", time.clock / transform.clock);
  }
  const Time all = best_of(9, [&] { IndexSet(hifi::all_indices(), kPlayers, 2).evaluate(losses); });
  benchmarks::print("\nn=20 all eight, order 2", all);
  fmt::print("; {:.1f} transforms; peak {} MiB\n", all.clock / transform.clock, benchmarks::peak_mebibytes());
  return 0;
}

int report_on_file(const std::string& path, const std::string& index, std::size_t order) {
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
  IndexSet::Values values;
  const Time time =
      best_of(5, [&] { values = IndexSet({hifi::parse_index(index)}, players, order).evaluate(losses); });
  fmt::print("{}\n", time.clock);
  for (const double value : values[0]) fmt::print("{}\n", value);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return own_report();
  if (argc == 4) return report_on_file(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10));
  fmt::print(stderr, "usage: indices [TABLE INDEX ORDER]\n");
  return 2;
}
