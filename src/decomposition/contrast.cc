#include "decomposition/contrast.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "decomposition/contrast_kernels.h"

namespace hifi {

Contrast::Contrast(std::size_t players, std::vector<std::size_t> fixed, std::vector<Corner> corners)
    : contexts_(std::size_t{1} << (players - fixed.size())),
      fixed_(std::move(fixed)),
      corners_(std::move(corners)) {}

Contrast Contrast::gain(std::size_t players, std::size_t i) {
  return Contrast(players, {i}, {{0, 1.0}, {std::size_t{1} << i, -1.0}});
}

Contrast Contrast::mixed_difference(std::size_t players, std::size_t i, std::size_t j) {
  const std::size_t a = std::size_t{1} << i;
  const std::size_t b = std::size_t{1} << j;
  return Contrast(players, {std::min(i, j), std::max(i, j)}, {{a, 1.0}, {b, 1.0}, {a | b, -1.0}, {0, -1.0}});
}

std::size_t Contrast::context(std::size_t k) const {
  for (const std::size_t bit : fixed_) {
    const std::size_t low = k & ((std::size_t{1} << bit) - 1);
    k = ((k - low) << 1) | low;
  }
  return k;
}

namespace {

// Contexts k .. k + count - 1 have adjacent masks: the runs between the fixed bits.
template <class Body>
void for_each_run(const Contrast& contrast, std::size_t lowest_fixed_bit, Body body) {
  const std::size_t run = std::min(contrast.contexts(), std::size_t{1} << lowest_fixed_bit);
  for (std::size_t k = 0; k < contrast.contexts(); k += run) body(k, contrast.context(k), run);
}

}  // namespace

void Contrast::evaluate(std::span<const double> losses, std::vector<double>& values) const {
  values.assign(contexts_, 0.0);
  for_each_run(*this, fixed_[0], [&](std::size_t k, std::size_t mask, std::size_t run) {
    for (std::size_t r = 0; r < run; ++r) {
      double sum = 0;
      for (const Corner& corner : corners_) sum += corner.sign * losses[mask + r + corner.offset];
      values[k + r] = sum;
    }
  });
}

double Contrast::evaluate(std::span<const double> losses, std::size_t k) const {
  const std::size_t mask = context(k);
  double sum = 0;
  for (const Corner& corner : corners_) sum += corner.sign * losses[mask + corner.offset];
  return sum;
}

void Contrast::errors(const Noise& noise, bool from_empty, std::vector<double>& errors) const {
  errors.resize(contexts_);
  if (noise.kind == Noise::Kind::cells) {
    cell_errors(noise, from_empty, errors);
  } else {
    block_errors(noise, from_empty, errors);
  }
}

void Contrast::cell_errors(const Noise& noise, bool from_empty, std::vector<double>& errors) const {
  for (std::size_t k = 0; k < contexts_; ++k) {
    const std::size_t mask = context(k);
    double sum = 0;
    for (const Corner& corner : corners_) sum += noise.variance[mask + corner.offset];
    errors[k] = sum;
  }
  // The corners of {} and of another context are different cells; from itself {} has no noise.
  const double empty = errors[0];
  for (std::size_t k = 0; k < contexts_; ++k) {
    if (from_empty) errors[k] = k == 0 ? 0 : errors[k] + empty;
    errors[k] = std::sqrt(errors[k]);
  }
}

void Contrast::block_errors(const Noise& noise, bool from_empty, std::vector<double>& errors) const {
  constexpr std::size_t kChunk = 1024;
  std::vector<float> base(noise.stride, 0.0F);
  if (from_empty) {
    std::vector<double> empty(noise.rows.rows());
    influence(noise, 0, empty);
    for (std::size_t g = 0; g < empty.size(); ++g) base[g] = static_cast<float>(empty[g] / noise.unit);
  }
  const SquaresInput input{noise.influence.data(), noise.stride, static_cast<unsigned>(fixed_.front()),
                           static_cast<unsigned>(fixed_.back()), base.data()};
  const auto squares = fixed_.size() == 1 ? squares_kernels().gain : squares_kernels().mixed;
  // Influences are kept as floats: what is this far below the noise of a loss is rounding, not noise.
  const double rounding = std::pow(1e-6 * noise.scale / noise.unit, 2);
  float sums[kChunk];
  for (std::size_t begin = 0; begin < contexts_; begin += kChunk) {
    const std::size_t end = std::min(contexts_, begin + kChunk);
    squares(input, begin, end, sums);
    for (std::size_t k = begin; k < end; ++k) {
      const auto sum = static_cast<double>(sums[k - begin]);
      errors[k] = sum < rounding ? 0.0 : noise.unit * std::sqrt(sum);
    }
  }
}

void Contrast::influence(const Noise& noise, std::size_t k, std::span<double> out) const {
  const std::size_t mask = context(k);
  std::fill(out.begin(), out.end(), 0.0);
  for (const Corner& corner : corners_) {
    const float* row = noise.of(mask + corner.offset);
    for (std::size_t g = 0; g < out.size(); ++g) out[g] += corner.sign * static_cast<double>(row[g]);
  }
  for (double& x : out) x *= noise.unit;
}

}  // namespace hifi
