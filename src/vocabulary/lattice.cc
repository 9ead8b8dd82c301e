#include "vocabulary/lattice.h"

#include <algorithm>

namespace hifi {

namespace {

void add(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t s = 0; s < to.size(); ++s) to[s] += from[s];
}

}  // namespace

BlockSums zero_sums(std::size_t coalitions, std::size_t background_blocks, std::size_t round_blocks) {
  const std::vector<double> zero(coalitions, 0.0);
  return {.background = {background_blocks, zero}, .round = {round_blocks, zero}, .squares = zero};
}

void clear(BlockSums& sums) {
  for (auto* group : {&sums.background, &sums.round}) {
    for (auto& array : *group) std::fill(array.begin(), array.end(), 0.0);
  }
  std::fill(sums.squares.begin(), sums.squares.end(), 0.0);
}

Lattice Lattice::zeros(std::size_t coalitions, std::size_t instance_blocks, std::size_t background_blocks,
                       std::size_t round_blocks) {
  Lattice lattice;
  lattice.instance.assign(instance_blocks, std::vector<double>(coalitions, 0.0));
  lattice.sums = zero_sums(coalitions, background_blocks, round_blocks);
  return lattice;
}

void Lattice::add_tile(std::size_t instance_block, const BlockSums& tile) {
  for (std::size_t b = 0; b < tile.background.size(); ++b) {
    add(instance[instance_block], tile.background[b]);
    add(sums.background[b], tile.background[b]);
  }
  for (std::size_t r = 0; r < tile.round.size(); ++r) add(sums.round[r], tile.round[r]);
  add(sums.squares, tile.squares);
}

void Lattice::fold_rounds() {
  const std::size_t half = sums.round.size() / 2;
  for (std::size_t r = 0; r < half; ++r) {
    if (r > 0) sums.round[r] = sums.round[2 * r];
    add(sums.round[r], sums.round[2 * r + 1]);
  }
  for (std::size_t r = half; r < sums.round.size(); ++r)
    std::fill(sums.round[r].begin(), sums.round[r].end(), 0.0);
}

std::vector<double> Lattice::means() const {
  std::vector<double> mean(size(), 0.0);
  for (const auto& block : instance) add(mean, block);
  for (double& value : mean) value /= static_cast<double>(draws);
  return mean;
}

std::vector<double> Lattice::variances() const {
  std::vector<double> variance = means();
  const auto k = static_cast<double>(draws);
  for (std::size_t s = 0; s < variance.size(); ++s) {
    const double m2 = std::max(0.0, sums.squares[s] - k * variance[s] * variance[s]);
    variance[s] = draws > 1 ? m2 / (k - 1) : 0.0;
  }
  return variance;
}

std::size_t lattice_arrays(std::size_t instance_blocks, std::size_t background_blocks,
                           std::size_t round_blocks) {
  return instance_blocks + 2 * (background_blocks + round_blocks + 1) + 1;
}

}  // namespace hifi
