// The one transform that all indices share: for every small set S the sums of an array over the coalitions W
// with a given size of S u W.
//
// Players are folded away one by one, the last first, and the array halves each time: for a set S that takes
// the player, the halves without and with it are added; otherwise the half with it counts as one player
// larger. All sets share the folds of the players before they differ, so up to order 2 the work is a few
// times the size of the table, where a subset-sum transform is n/2 times it.
//
// Thread safety: objects own their memory; use one per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace hifi {

class UnionSums {
 public:
  // REQUIRES: 1 <= order <= players <= 30
  UnionSums(std::size_t players, std::size_t order);

  // sums[u - |S|] = sum over W with |S u W| = u of sign x values[W], u = |S| .. players, where sign is
  // (-1)^|W| if `alternating`, else 1.
  using Visit = std::function<void(std::uint64_t set, std::span<const double> sums)>;

  // Visits every S with 1 <= |S| <= order once, in no particular order. REQUIRES: values.size() == 2^players
  void run(std::span<const double> values, bool alternating, const Visit& visit);

  // Bytes that an object holds.
  static std::uint64_t memory(std::size_t players, std::size_t order);

 private:
  struct Part;
  void fold(const Part& part, std::uint64_t set, std::size_t free, const Visit& visit);

  std::size_t players_;
  std::size_t order_;
  std::size_t low_;                               // players of a block
  double with_ = 1;                               // sign of the half that has the player
  std::vector<std::unique_ptr<double[]>> level_;  // the folded array with so many players left
  std::vector<double> blocks_;                    // sums of each block, for every set of its players
};

// Position of a set among those of its size: {0,1}, {0,2}, .., {1,2}, ..
std::size_t position_in_size(std::uint64_t set, std::size_t players);
std::size_t sets_of_size(std::size_t players, std::size_t size);

}  // namespace hifi
