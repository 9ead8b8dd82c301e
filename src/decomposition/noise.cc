#include "decomposition/noise.h"

#include <algorithm>
#include <cmath>

namespace hifi {

namespace {

constexpr std::uint64_t kMinDraws = 64;  // below, slices of the draws say nothing about Monte Carlo error

// (sum of the block - its weight x mean) / K: what the block moves the mean by. Adds to `out`.
void add_part(const std::vector<double>& block, double weight, const std::vector<double>& means, double draws,
              double scale, std::vector<float>& out) {
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s] += static_cast<float>(scale * (block[s] - weight * means[s]) / draws);
  }
}

double bessel(std::size_t blocks) {
  return std::sqrt(static_cast<double>(blocks) / static_cast<double>(blocks - 1));
}

void append(Noise& noise, const std::vector<std::vector<double>>& blocks,
            const std::vector<std::uint64_t>& weights, const std::vector<double>& means, double draws,
            double shrink = 1) {
  if (blocks.size() < 2) return;
  noise.rows.parts.push_back(blocks.size());
  for (std::size_t g = 0; g < blocks.size(); ++g) {
    noise.influence.emplace_back(means.size(), 0.0F);
    add_part(blocks[g], static_cast<double>(weights[g]), means, draws, shrink * bessel(blocks.size()),
             noise.influence.back());
  }
  noise.kind = Noise::Kind::blocks;
}

void set_scale(Noise& noise) {
  if (noise.influence.empty()) return;
  std::vector<double> squares(noise.influence[0].size(), 0.0);
  for (const auto& row : noise.influence) {
    for (std::size_t s = 0; s < squares.size(); ++s)
      squares[s] += static_cast<double>(row[s]) * static_cast<double>(row[s]);
  }
  noise.scale = std::sqrt(*std::max_element(squares.begin(), squares.end()));
}

}  // namespace

Noise population_noise(const Lattice& lattice, const std::vector<double>& means, const RunPlan& plan) {
  Noise noise;
  const auto draws = static_cast<double>(lattice.draws);
  noise.units = static_cast<double>(std::min(plan.instances, plan.draws));
  switch (plan.population) {
    case Population::draws:
      append(noise, lattice.sums.round, plan.round_weights, means, draws);
      break;
    case Population::instances:
      append(noise, lattice.instance, plan.instance_weights, means, draws);
      break;
    case Population::both:
      append(noise, lattice.instance, plan.instance_weights, means, draws);
      append(noise, lattice.sums.background, plan.background_weights, means, draws);
      break;
    case Population::rows:
      // One partition of the rows serves both sides: a block has one influence.
      append(noise, lattice.instance, plan.instance_weights, means, draws);
      for (std::size_t g = 0; g < noise.influence.size(); ++g) {
        add_part(lattice.sums.background[g], static_cast<double>(plan.background_weights[g]), means, draws,
                 bessel(noise.influence.size()), noise.influence[g]);
      }
      break;
  }
  set_scale(noise);
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
    append(noise, lattice.sums.round, plan.round_weights, means, static_cast<double>(lattice.draws),
           std::sqrt(1 - share));
    set_scale(noise);
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
