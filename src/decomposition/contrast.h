// A family of linear combinations of losses, one per context: gains of a player, mixed differences of a pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/noise.h"

namespace hifi {

class Contrast {
 public:
  // gain(i|C) = L(C) - L(C+i)
  static Contrast gain(std::size_t players, std::size_t i);
  // D_ij(C) = L(C+i) + L(C+j) - L(C+ij) - L(C)
  static Contrast mixed_difference(std::size_t players, std::size_t i, std::size_t j);

  std::size_t contexts() const { return contexts_; }
  // The k-th context as a mask; the 0-th is {}.
  std::size_t context(std::size_t k) const;

  // values[k] for all contexts.
  void evaluate(std::span<const double> losses, std::vector<double>& values) const;
  // values[k] for one.
  double evaluate(std::span<const double> losses, std::size_t k) const;
  // Standard errors of values[k], or of values[k] - values[0] if `from_empty`.
  void errors(const Noise& noise, bool from_empty, std::vector<double>& errors) const;
  // The influence of one, a number per block.
  void influence(const Noise& noise, std::size_t k, std::span<double> out) const;

 private:
  struct Corner {
    std::size_t offset;
    double sign;
  };
  Contrast(std::size_t players, std::vector<std::size_t> fixed, std::vector<Corner> corners);
  void block_errors(const Noise& noise, bool from_empty, std::vector<double>& errors) const;
  void cell_errors(const Noise& noise, bool from_empty, std::vector<double>& errors) const;

  std::size_t contexts_;
  std::vector<std::size_t> fixed_;  // bits that no context has, ascending
  std::vector<Corner> corners_;
};

}  // namespace hifi
