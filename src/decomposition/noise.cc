#include "decomposition/noise.h"

#include <algorithm>
#include <cmath>

namespace hifi {

namespace {

constexpr std::uint64_t kMinDraws = 64;  // below, slices of the draws say nothing about Monte Carlo error

using Blocks = std::vector<std::vector<double>>;
using Weights = std::vector<std::uint64_t>;

// What one block moves the mean by: (its sum - its weight x mean) / K. A block of rows that are instances
// and background has two sums.
struct Part {
  const Blocks* sums;
  const Weights* weights;
  const Blocks* more_sums = nullptr;
  const Weights* more_weights = nullptr;
  double shrink = 1;
};

double power_of_two_above(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, exponent);
}

// Fills the influences, a few coalitions at a time: sums are by block, influences by coalition.
void fill(Noise& noise, const std::vector<double>& means, double draws, const std::vector<Part>& parts) {
  constexpr std::size_t kChunk = 128;
  double largest = 0;
  for (const Part& part : parts) {
    if (part.sums->size() < 2) continue;
    noise.rows.parts.push_back(part.sums->size());
    for (std::size_t s = 0; s < means.size(); ++s) {
      const double block =
          part.sums->front()[s] / static_cast<double>(std::max<std::uint64_t>(1, part.weights->front()));
      largest = std::max({largest, std::abs(means[s]), std::abs(block)});
    }
  }
  if (noise.rows.parts.empty()) return;
  noise.kind = Noise::Kind::blocks;
  noise.unit = power_of_two_above(largest);
  noise.stride = padded(noise.rows.rows());
  noise.influence.assign(means.size() * noise.stride, 0.0F);
  std::vector<double> squares(kChunk), moved(kChunk);
  double most = 0;
  for (std::size_t begin = 0; begin < means.size(); begin += kChunk) {
    const std::size_t end = std::min(means.size(), begin + kChunk);
    std::fill(squares.begin(), squares.end(), 0.0);
    std::size_t row = 0;
    for (const Part& part : parts) {
      const std::size_t blocks = part.sums->size();
      if (blocks < 2) continue;
      const double bessel = std::sqrt(static_cast<double>(blocks) / static_cast<double>(blocks - 1));
      const double scale = part.shrink * bessel / draws / noise.unit;
      for (std::size_t g = 0; g < blocks; ++g, ++row) {
        const auto add = [&](const Blocks& sums, const Weights& weights) {
          const auto weight = static_cast<double>(weights[g]);
          for (std::size_t s = begin; s < end; ++s)
            moved[s - begin] += scale * (sums[g][s] - weight * means[s]);
        };
        std::fill(moved.begin(), moved.end(), 0.0);
        add(*part.sums, *part.weights);
        if (part.more_sums != nullptr) add(*part.more_sums, *part.more_weights);
        for (std::size_t s = begin; s < end; ++s) {
          noise.influence[s * noise.stride + row] = static_cast<float>(moved[s - begin]);
          squares[s - begin] += moved[s - begin] * moved[s - begin];
        }
      }
    }
    most = std::max(most, *std::max_element(squares.begin(), squares.end()));
  }
  noise.scale = noise.unit * std::sqrt(most);
}

}  // namespace

Noise population_noise(const Lattice& lattice, const std::vector<double>& means, const RunPlan& plan) {
  Noise noise;
  noise.units = static_cast<double>(std::min(plan.instances, plan.draws));
  const Part instances{&lattice.instance, &plan.instance_weights};
  std::vector<Part> parts;
  switch (plan.population) {
    case Population::draws:
      parts = {{&lattice.sums.round, &plan.round_weights}};
      break;
    case Population::instances:
      parts = {instances};
      break;
    case Population::both:
      parts = {instances, {&lattice.sums.background, &plan.background_weights}};
      break;
    case Population::rows:
      // One partition of the rows serves both sides: a block has one influence.
      parts = {
          {&lattice.instance, &plan.instance_weights, &lattice.sums.background, &plan.background_weights}};
      break;
  }
  fill(noise, means, static_cast<double>(lattice.draws), parts);
  return noise;
}

Noise montecarlo_noise(const Lattice& lattice, const std::vector<double>& means, const RunPlan& plan) {
  Noise noise;
  if (plan.exact) {
    noise.kind = Noise::Kind::none;
  } else if (plan.draws >= kMinDraws) {
    noise.units = static_cast<double>(plan.draws);
    // Draws are taken without replacement: the error goes to 0 as they become all pairs.
    const double share =
        plan.pairs == 0 ? 0 : static_cast<double>(plan.draws) / static_cast<double>(plan.pairs);
    fill(noise, means, static_cast<double>(lattice.draws),
         {{.sums = &lattice.sums.round, .weights = &plan.round_weights, .shrink = std::sqrt(1 - share)}});
  }
  return noise;
}

Noise cell_noise(std::vector<double> draws, const std::vector<double>& variances) {
  Noise noise{.kind = Noise::Kind::cells};
  const double fewest = *std::min_element(draws.begin(), draws.end());
  if (fewest < 2) return {};
  noise.rows.parts = {static_cast<std::size_t>(std::min(fewest, 1e9))};
  noise.units = fewest;
  noise.variance = std::move(draws);
  for (std::size_t s = 0; s < variances.size(); ++s) noise.variance[s] = variances[s] / noise.variance[s];
  return noise;
}

}  // namespace hifi
