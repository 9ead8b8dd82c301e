#include "indices/indices.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "indices/union_sums.h"

namespace hifi {

namespace {

// Where the sets of each size begin in a list of values.
std::vector<std::size_t> size_begins(std::size_t players, std::size_t order) {
  std::vector<std::size_t> begin(order + 2, 0);
  for (std::size_t s = 1; s <= order; ++s) begin[s + 1] = begin[s] + sets_of_size(players, s);
  return begin;
}

}  // namespace

IndexSet::IndexSet(const std::vector<IndexKind>& kinds, std::size_t players, std::size_t order)
    : players_(players) {
  for (const IndexKind kind : kinds) {
    weights_.push_back(index_weights(kind, players, order));
    order_ = std::max(order_, weights_.back().order);
  }
}

std::size_t IndexSet::values(std::size_t index) const {
  return size_begins(players_, weights_[index].order).back();
}

IndexSet::Values IndexSet::zeros() const {
  Values result(size());
  for (std::size_t k = 0; k < size(); ++k) result[k].assign(values(k), 0.0);
  return result;
}

std::uint64_t IndexSet::memory() const {
  std::uint64_t numbers = 0;
  for (std::size_t k = 0; k < size(); ++k) numbers += values(k);
  return UnionSums::memory(players_, order_) + sizeof(double) * numbers;
}

IndexSet::Values IndexSet::evaluate(std::span<const double> losses) const {
  Values result = zeros();
  const auto begin = size_begins(players_, order_);
  UnionSums(players_, order_).run(losses, true, [&](std::uint64_t set, std::span<const double> sums) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    const std::size_t place = begin[size] + position_in_size(set, players_);
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      if (size > weights_[k].order) continue;
      double sum = 0;
      for (std::size_t q = 0; q < sums.size(); ++q) sum -= weights_[k].by_size[size][size + q] * sums[q];
      result[k][place] = sum;
    }
  });
  return result;
}

IndexSet::Values IndexSet::squared_errors(std::size_t rows,
                                          const std::function<std::vector<double>(std::size_t)>& row,
                                          Workers& workers) const {
  Values result = zeros();
  // As many rows at a time as there are threads; added in the order of the rows.
  for (std::size_t first = 0; first < rows; first += workers.threads()) {
    std::vector<Values> some(std::min(workers.threads(), rows - first));
    workers.parallel_for(some.size(), [&](std::size_t r) { some[r] = evaluate(row(first + r)); });
    for (const Values& one : some) {
      for (std::size_t k = 0; k < one.size(); ++k) {
        for (std::size_t v = 0; v < one[k].size(); ++v) result[k][v] += one[k][v] * one[k][v];
      }
    }
  }
  return result;
}

IndexSet::Values IndexSet::squared_errors(std::span<const double> variances) const {
  Values result = zeros();
  const auto begin = size_begins(players_, order_);
  UnionSums(players_, order_).run(variances, false, [&](std::uint64_t set, std::span<const double> sums) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    const std::size_t place = begin[size] + position_in_size(set, players_);
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      if (size > weights_[k].order) continue;
      for (std::size_t q = 0; q < sums.size(); ++q) {
        const double weight = weights_[k].by_size[size][size + q];
        result[k][place] += weight * weight * sums[q];
      }
    }
  });
  return result;
}

std::vector<std::vector<std::uint32_t>> sets_up_to(std::size_t players, std::size_t order) {
  std::vector<std::vector<std::uint32_t>> sets;
  std::vector<std::uint32_t> set;
  const std::function<void(std::uint32_t, std::size_t)> extend = [&](std::uint32_t first, std::size_t left) {
    if (left == 0) return sets.push_back(set);
    for (std::uint32_t i = first; i + left <= players; ++i) {
      set.push_back(i);
      extend(i + 1, left - 1);
      set.pop_back();
    }
  };
  for (std::size_t size = 1; size <= order; ++size) extend(0, size);
  return sets;
}

}  // namespace hifi
