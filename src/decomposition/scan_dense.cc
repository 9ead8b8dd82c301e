#include "decomposition/scan_dense.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decomposition/scan.h"

namespace hifi {

namespace {

constexpr std::size_t kValuesPerTask = 1 << 17;

double largest_magnitude(std::span<const double> values, Workers& workers) {
  std::vector<double> parts((values.size() + kValuesPerTask - 1) / kValuesPerTask);
  workers.parallel_for(parts.size(), [&](std::size_t task) {
    const std::size_t begin = task * kValuesPerTask;
    double largest = 0;
    for (const double value : values.subspan(begin, std::min(kValuesPerTask, values.size() - begin))) {
      largest = std::max(largest, std::abs(value));
    }
    parts[task] = largest;
  });
  return parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
}

}  // namespace

std::vector<std::uint32_t> context_order(int bits) {
  std::vector<std::uint32_t> order(std::size_t{1} << bits);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [](auto a, auto b) { return smaller_context(a, b); });
  return order;
}

ScanResult scan_dense(std::size_t players, std::span<const double> losses, const ScanOptions& options,
                      Workers& workers) {
  const double tolerance = options.tie_tolerance * largest_magnitude(losses, workers);
  const DenseLattice lattice{players, losses, tolerance};
  ScanResult result;
  result.features = scan_dense_gains(lattice, workers);
  result.pairs = scan_dense_pairs(lattice, options.pairs, workers);
  return result;
}

}  // namespace hifi
