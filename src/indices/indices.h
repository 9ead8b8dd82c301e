// Indices of a complete table of losses and their noise.
//
// A loss enters as value v = -L, so that a useful player is positive. All values are linear in the losses:
// the noise of an index is the same combination of the noise of the losses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "indices/kind.h"
#include "indices/weights.h"

namespace hifi {

class IndexSet {
 public:
  // REQUIRES: 1 <= order <= players <= 30
  IndexSet(const std::vector<IndexKind>& kinds, std::size_t players, std::size_t order);

  std::size_t size() const { return weights_.size(); }
  const IndexWeights& weights(std::size_t index) const { return weights_[index]; }
  // How many values an index has: the sets of size 1 .. its order.
  std::size_t values(std::size_t index) const;
  std::size_t order() const { return order_; }  // the largest

  // One list per index, by size and then by position.
  using Values = std::vector<std::vector<double>>;

  Values evaluate(std::span<const double> losses) const;
  // Squared errors from influences, one row of 2^players numbers per block: the sum over rows of the squared
  // index of a row. `row` is called from several threads.
  Values squared_errors(std::size_t rows, const std::function<std::vector<double>(std::size_t)>& row,
                        Workers& workers) const;
  // Squared errors from losses that are independent and have these variances.
  Values squared_errors(std::span<const double> variances) const;

  // Bytes that evaluation holds besides its input, per thread.
  std::uint64_t memory() const;

 private:
  Values zeros() const;

  std::size_t players_;
  std::size_t order_ = 0;
  std::vector<IndexWeights> weights_;
};

// The sets of size 1 .. order as lists of positions, in the order of the values.
std::vector<std::vector<std::uint32_t>> sets_up_to(std::size_t players, std::size_t order);

}  // namespace hifi
