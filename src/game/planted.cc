#include "game/planted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "core/random.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kTaskCoalitions = 256;

void check_block(const PlantedSpec& spec, std::size_t index, std::vector<bool>& taken,
                 const std::string& source) {
  const PlantedBlock& block = spec.blocks[index];
  const auto fail = [&](const std::string& what) {
    return input_error(fmt::format("{}: block {}: {}", source, index, what));
  };
  if (block.players.empty() || block.players.size() > kMaxPlantedBlock) {
    throw fail(
        fmt::format("it has {} players; 1 to {} are possible", block.players.size(), kMaxPlantedBlock));
  }
  for (const std::uint32_t player : block.players) {
    if (player >= spec.names.size()) throw fail(fmt::format("there is no player {}", player));
    if (taken[player]) throw fail(fmt::format("player {} is in a block already", player));
    taken[player] = true;
  }
  if (block.values.size() != std::size_t{1} << block.players.size()) {
    throw fail(fmt::format("{} players need {} values, not {}", block.players.size(),
                           std::size_t{1} << block.players.size(), block.values.size()));
  }
  if (!std::ranges::all_of(block.values, [](double v) { return std::isfinite(v); })) {
    throw fail("a value is not finite");
  }
}

void check(const PlantedSpec& spec, const std::string& source) {
  const std::size_t n = spec.names.size();
  const auto fail = [&](const std::string& what) { return input_error(fmt::format("{}: {}", source, what)); };
  if (n == 0 || n > kMaxPlayers) throw fail(fmt::format("{} players; 1 to {} are possible", n, kMaxPlayers));
  if (std::set<std::string>(spec.names.begin(), spec.names.end()).size() != n)
    throw fail("two players have one name");
  if (!std::isfinite(spec.base)) throw fail("base is not finite");
  if (!std::isfinite(spec.noise) || spec.noise < 0) throw fail("the noise must be 0 or larger");
  if (spec.draws == 0) throw fail("a game needs at least one draw");
  if (spec.image && !(spec.blocks.empty() && spec.additive.empty())) {
    throw fail("an image has no blocks and no additive effects");
  }
  if (spec.image) {
    if (2 * spec.image->weights.size() != n) {
      throw fail(fmt::format("{} weights make {} players, not {}", spec.image->weights.size(),
                             2 * spec.image->weights.size(), n));
    }
    if (std::ranges::any_of(spec.image->weights, [](std::uint32_t w) { return w == 0 || w > 1000; })) {
      throw fail("the weights of an image must be 1 to 1000");
    }
  }
  if (!spec.additive.empty() && spec.additive.size() != n) {
    throw fail(fmt::format("{} additive effects for {} players", spec.additive.size(), n));
  }
  if (!std::ranges::all_of(spec.additive, [](double v) { return std::isfinite(v); })) {
    throw fail("an additive effect is not finite");
  }
  std::vector<bool> taken(n);
  for (std::size_t b = 0; b < spec.blocks.size(); ++b) check_block(spec, b, taken, source);
}

void add_pair(const PlantedBlock& block, std::size_t a, std::size_t b, PlantedTruth& truth) {
  const std::vector<double>& v = block.values;
  const std::size_t x = std::size_t{1} << a, y = std::size_t{1} << b;
  PlantedPair pair{std::min(block.players[a], block.players[b]),
                   std::max(block.players[a], block.players[b])};
  for (std::size_t c = 0; c < v.size(); ++c) {
    if (c & (x | y)) continue;
    const double delta = v[c | x] + v[c | y] - v[c | x | y] - v[c];
    pair.S = std::max(pair.S, delta);
    pair.R = std::max(pair.R, -delta);
  }
  truth.pairs.push_back(pair);
}

PlantedTruth blocks_truth(const PlantedSpec& spec) {
  const std::size_t n = spec.names.size();
  PlantedTruth truth;
  truth.U = spec.additive.empty() ? std::vector<double>(n) : spec.additive;
  truth.Lmax = truth.pi = truth.last = truth.U;
  for (const PlantedBlock& block : spec.blocks) {
    const std::vector<double>& v = block.values;
    for (std::size_t a = 0; a < block.players.size(); ++a) {
      const std::size_t x = std::size_t{1} << a;
      double low = INFINITY, high = -INFINITY;
      for (std::size_t c = 0; c < v.size(); ++c) {
        if (c & x) continue;
        low = std::min(low, v[c] - v[c | x]);
        high = std::max(high, v[c] - v[c | x]);
      }
      const std::uint32_t player = block.players[a];
      truth.U[player] += low;
      truth.Lmax[player] += high;
      truth.pi[player] += v[0] - v[x];
      truth.last[player] += v[v.size() - 1 - x] - v[v.size() - 1];
      for (std::size_t b = 0; b < a; ++b) add_pair(block, a, b, truth);
    }
  }
  std::ranges::sort(truth.pairs, {}, [](const PlantedPair& p) { return std::pair(p.first, p.second); });
  return truth;
}

double image_sum(const PlantedImage& image, auto&& contains) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < image.weights.size(); ++k) {
    const bool a = contains(2 * k), b = contains(2 * k + 1);
    sum += std::uint64_t{image.weights[k]} * ((a || b ? 10U : 0U) + (a && b ? 3U : 0U));
  }
  return static_cast<double>(sum);
}

double image_total(const PlantedImage& image) {
  return image_sum(image, [](std::size_t) { return true; });
}

double loss_of(const PlantedSpec& spec, double total, auto&& contains) {
  if (spec.image) return spec.base + planted_image_loss(image_sum(*spec.image, contains), total);
  double loss = spec.base;
  for (const PlantedBlock& block : spec.blocks) {
    std::size_t pattern = 0;
    for (std::size_t b = 0; b < block.players.size(); ++b) {
      pattern |= static_cast<std::size_t>(contains(block.players[b])) << b;
    }
    loss += block.values[pattern];
  }
  for (std::size_t i = 0; i < spec.additive.size(); ++i) {
    if (contains(i)) loss -= spec.additive[i];
  }
  return loss;
}

// Box and Muller (1958), doi 10.1214/aoms/1177706645. One stream per (coalition, draw).
double noise_of(const PlantedSpec& spec, std::uint64_t coalition_hash, const Draw& draw) {
  const std::uint64_t number = (std::uint64_t{draw.background} << 32 | draw.instance) + 1;
  RandomStream stream(spec.noise_seed, Purpose::planted_noise,
                      coalition_hash ^ (number * 0x9E3779B97F4A7C15U));
  const double radius = std::sqrt(-2 * std::log1p(-stream.uniform()));
  return spec.noise * radius * std::cos(2 * std::numbers::pi * stream.uniform());
}

std::uint64_t hash_of(const CoalitionList& coalitions, std::size_t index) {
  Coalition coalition(coalitions.players());
  for (std::size_t i = 0; i < coalitions.players(); ++i) {
    if (coalitions.contains(index, i)) coalition.insert(i);
  }
  return coalition.hash();
}

}  // namespace

PlantedGame::PlantedGame(PlantedSpec spec, const std::string& source) : spec_(std::move(spec)) {
  check(spec_, source);
  truth_ = spec_.image ? planted_image_truth(*spec_.image) : blocks_truth(spec_);
}

void PlantedGame::losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                         Workers& workers) {
  const std::size_t count = coalitions.size();
  const double total = spec_.image ? image_total(*spec_.image) : 0;
  workers.parallel_for((count + kTaskCoalitions - 1) / kTaskCoalitions, [&](std::size_t task) {
    const std::size_t end = std::min(count, (task + 1) * kTaskCoalitions);
    for (std::size_t c = task * kTaskCoalitions; c < end; ++c) {
      const double loss = loss_of(spec_, total, [&](std::size_t i) { return coalitions.contains(c, i); });
      const std::uint64_t hash = spec_.noise > 0 ? hash_of(coalitions, c) : 0;
      for (std::size_t d = 0; d < draws.size(); ++d) {
        out[d * count + c] = loss + (spec_.noise > 0 ? noise_of(spec_, hash, draws[d]) : 0);
      }
    }
  });
}

double PlantedGame::loss(const Coalition& coalition) const {
  const double total = spec_.image ? image_total(*spec_.image) : 0;
  return loss_of(spec_, total, [&](std::size_t i) { return coalition.contains(i); });
}

std::vector<double> PlantedGame::mean_losses(std::span<const Coalition> coalitions, std::uint32_t first,
                                             std::uint32_t count, Workers& workers) {
  std::vector<Draw> draws(count);
  for (std::uint32_t d = 0; d < count; ++d) draws[d].instance = first + d;
  std::vector<double> single(coalitions.size() * count), means(coalitions.size());
  losses(CoalitionList::of(players(), coalitions), draws, single, workers);
  for (std::size_t d = 0; d < count; ++d) {
    for (std::size_t c = 0; c < means.size(); ++c) means[c] += single[d * means.size() + c];
  }
  for (double& mean : means) mean /= static_cast<double>(count);
  return means;
}

}  // namespace hifi
