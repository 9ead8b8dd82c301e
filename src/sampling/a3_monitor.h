// Watches assumption A3 of the paper (adjacency-dominant covariance): that evaluating the four corners of a
// diamond on the same draws makes their mixed difference less noisy, not more.
//
// Each coupled diamond of a pair gives one estimate of the variance saved: the sum of the variances of its
// corners less the variance of the mixed difference, over the slices of its draws. A pair is flagged when
// one-sided tests, at 8, 16, 32, .. diamonds, say with 99 % confidence together that the mean saving is
// negative.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace hifi {

class A3Monitor {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  // Slices of C, C+i, C+j, C+ij. True if the pair is flagged now and was not before.
  bool see(Pair pair, const std::array<std::span<const double>, 4>& corners);

  bool flagged(Pair pair) const;
  // Diamonds seen of the pair and their mean saving.
  std::pair<std::size_t, double> saving(Pair pair) const;

 private:
  struct State {
    std::size_t count = 0;
    double mean = 0;
    double squares = 0;  // of deviations from the mean
    bool flagged = false;
  };
  std::map<Pair, State> pairs_;
};

}  // namespace hifi
