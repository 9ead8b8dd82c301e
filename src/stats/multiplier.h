// The multiplier process: normal multipliers of the blocks, and the largest of many statistics under them.
//
// Multipliers and influences are floats in rows filled up to whole vectors; the loops are compiled for the
// baseline and for AVX2 and do the same operations in the same order, so the choice changes no bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hifi {

// Floats per vector; rows are filled up with zeros to a multiple of it.
inline constexpr std::size_t kFloatLanes = 8;
constexpr std::size_t padded(std::size_t count) {
  return (count + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
}

// What the largest is taken of: process * factor + shift; shift -infinity leaves a statistic out.
struct Weighing {
  std::vector<float> factor;
  std::vector<float> shift;
};

class Multipliers {
 public:
  // The numbers depend on the seed alone.
  Multipliers(std::size_t draws, std::size_t blocks, double degrees_of_freedom, std::uint64_t seed);

  std::size_t draws() const { return draws_; }
  // sqrt(chi2 / df) of each draw: divided by it the process is Student's.
  const std::vector<double>& scale() const { return scale_; }

  // For every draw the largest over all statistics, once per weighing. influence: statistics x
  // padded(blocks). `baseline`: without AVX2, for tests. REQUIRES: at least one statistic
  void largest(std::span<const float> influence, const Weighing& first, const Weighing& second,
               std::vector<float>& of_first, std::vector<float>& of_second, bool baseline = false) const;

 private:
  std::size_t draws_;
  std::size_t blocks_;
  std::vector<float> multiplier_;  // blocks x padded draws, standard normal
  std::vector<double> scale_;
};

}  // namespace hifi
