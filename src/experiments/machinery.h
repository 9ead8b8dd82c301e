// The parts of hifi that the theorem checks try. Tests replace one by a broken one and must see checks fail.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "decomposition/scan.h"
#include "indices/kind.h"

namespace hifi {

struct Machinery {
  // The profile of a complete table of losses.
  std::function<ScanResult(std::size_t players, std::span<const double> losses)> decompose;
  // All values of an index, by size of the set and position.
  std::function<std::vector<double>(IndexKind, std::size_t players, std::size_t order,
                                    std::span<const double> losses)>
      index;
  // D_ij from the losses of C, C+i, C+j, C+ij.
  std::function<double(std::span<const double, 4>)> mixed_difference;
};

Machinery our_machinery();

}  // namespace hifi
