// Families of planted games: the tables are of the seed alone, the places of their players of (seed,
// players).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/random.h"
#include "game/planted.h"
#include "hifi/error.h"

namespace hifi {

namespace {

using Drop = std::function<double(std::uint32_t pattern)>;  // of the loss, for the members of a block

double uniform(RandomStream& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

double normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log1p(-random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

bool has(std::uint32_t pattern, unsigned member) { return (pattern >> member) & 1U; }

// Collects tables; the players are placed at the end.
class Builder {
 public:
  explicit Builder(RandomStream& random) : random_(random) {}

  void add(std::size_t size, const Drop& drop) { add_scaled(size, drop, uniform(random_, .4, 1)); }

  void add_scaled(std::size_t size, const Drop& drop, double weight) {
    PlantedBlock block;
    block.players.resize(size);
    for (std::uint32_t p = 0; p < (1U << size); ++p) block.values.push_back(-weight * drop(p));
    blocks_.push_back(std::move(block));
  }

  std::vector<PlantedBlock> placed(const std::string& family, std::size_t players, RandomStream places) {
    std::size_t needed = 0, next = 0;
    for (const PlantedBlock& block : blocks_) needed += block.players.size();
    if (needed > players) {
      throw input_error(
          fmt::format("the planted family {} needs {} players, there are {}", family, needed, players));
    }
    const std::vector<std::uint32_t> order = places.permutation(players);
    for (PlantedBlock& block : blocks_) {
      for (std::uint32_t& player : block.players) player = order[next++];
    }
    return std::move(blocks_);
  }

 private:
  RandomStream& random_;
  std::vector<PlantedBlock> blocks_;
};

double one(std::uint32_t pattern) { return pattern & 1U; }
Drop any_of() {
  return [](std::uint32_t p) { return p != 0 ? 1.0 : 0.0; };
}
Drop all_of(unsigned size) {
  return [size](std::uint32_t p) { return p == (1U << size) - 1 ? 1.0 : 0.0; };
}

void add_mix(Builder& build) {
  for (int k = 0; k < 3; ++k) build.add(1, one);
  build.add(2, any_of());
  build.add(4, any_of());
  build.add(2, all_of(2));
  build.add(3, all_of(3));
  // The first harms unless the second, its guard, is in.
  build.add(2, [](std::uint32_t p) { return has(p, 1) ? .6 : (has(p, 0) ? -1. : 0.); });
}

void add_masked(Builder& build) {
  build.add(1, one);
  build.add(1, one);
  build.add(4, [](std::uint32_t p) { return (p & 3U) == 3 || (p & 12U) == 12 ? 1. : 0.; });
  build.add(5, [](std::uint32_t p) { return std::popcount(p) >= 3 ? 1. : 0.; });
  // Each alone harms, both cancel.
  build.add(2, [](std::uint32_t p) { return std::popcount(p) == 1 ? -1. : 0.; });
  // Harms only while exactly one of two others is in.
  build.add(3, [](std::uint32_t p) { return has(p, 0) && has(p, 1) != has(p, 2) ? -1. : 0.; });
}

void add_random(Builder& build, RandomStream& random) {
  for (int k = 0; k < 3; ++k) build.add(1, one);
  for (int k = 0; k < 2; ++k) {
    std::array<double, 64> table{};
    for (std::size_t p = 1; p < table.size(); ++p) table[p] = random.uniform();
    build.add(6, [&](std::uint32_t p) { return table[p]; });
  }
}

// Twelve patches in 3 rows of 4; neighbours share a quarter of the weaker one; a sigmoid on top.
void add_link(Builder& build, RandomStream& random) {
  std::array<double, 12> worth{};
  for (double& w : worth) w = uniform(random, .6, 1.4);
  const auto evidence = [&](std::uint32_t p) {
    double sum = 0;
    for (unsigned a = 0; a < 12; ++a) {
      if (!has(p, a)) continue;
      sum += worth[a];
      if (a % 4 < 3 && has(p, a + 1)) sum -= .25 * std::min(worth[a], worth[a + 1]);
      if (a < 8 && has(p, a + 4)) sum -= .25 * std::min(worth[a], worth[a + 4]);
    }
    return sum;
  };
  double largest = 0;
  for (std::uint32_t p = 0; p < 4096; ++p) largest = std::max(largest, evidence(p));
  build.add_scaled(
      12,
      [&](std::uint32_t p) { return -1 / (1 + std::exp((evidence(p) - .45 * largest) / (.06 * largest))); },
      1);
}

// A true interventional loss: squared error of a random tanh network of 14 inputs, 64 draws shared by all.
void add_net(Builder& build, RandomStream& random) {
  constexpr std::size_t kInputs = 14, kHidden = 12, kDraws = 64;
  std::array<std::array<double, kHidden>, kInputs> in{};
  std::array<double, kHidden> out{};
  for (auto& row : in) {
    const double scale = uniform(random, .3, 1.5);
    for (double& w : row) w = random.uniform() < .4 ? scale * normal(random) : 0;
  }
  for (double& w : out) w = normal(random);
  std::vector<double> loss(std::size_t{1} << kInputs);
  for (std::size_t k = 0; k < kDraws; ++k) {
    std::array<double, kInputs> x{}, z{};
    for (double& v : x) v = normal(random);
    for (double& v : z) v = normal(random);
    std::array<double, kHidden> hidden{};
    const auto step = [&](unsigned i, double sign) {
      for (std::size_t h = 0; h < kHidden; ++h) hidden[h] += sign * in[i][h] * (x[i] - z[i]);
    };
    const auto predict = [&] {
      double sum = 0;
      for (std::size_t h = 0; h < kHidden; ++h) sum += out[h] * std::tanh(hidden[h]);
      return sum;
    };
    for (unsigned i = 0; i < kInputs; ++i) {
      for (std::size_t h = 0; h < kHidden; ++h) hidden[h] += in[i][h] * x[i];
    }
    const double truth = predict();
    for (unsigned i = 0; i < kInputs; ++i) step(i, -1);
    // In Gray code order one player changes at a time.
    std::uint32_t pattern = 0;
    for (std::uint32_t t = 0;;) {
      loss[pattern] += std::pow(predict() - truth, 2);
      if (++t == loss.size()) break;
      const auto i = static_cast<unsigned>(std::countr_zero(t));
      pattern ^= 1U << i;
      step(i, has(pattern, i) ? 1 : -1);
    }
  }
  build.add_scaled(
      kInputs, [&](std::uint32_t p) { return -loss[p] / loss[0]; }, 1);
}

// The loss moves at one pattern of `size` players only: every second one in, the others out.
void add_needle(Builder& build, unsigned size) {
  for (int k = 0; k < 4; ++k) build.add(1, one);
  build.add(size, [size](std::uint32_t p) { return p == (0xAAAAU & ((1U << size) - 1)) ? 1. : 0.; });
}

// K of "needleK", or 0.
unsigned needle_size(const std::string& family) {
  if (!family.starts_with("needle") || family.size() < 7 || family.size() > 8) return 0;
  unsigned size = 0;
  for (const char digit : family.substr(6)) {
    if (digit < '0' || digit > '9') return 0;
    size = 10 * size + static_cast<unsigned>(digit - '0');
  }
  return size >= 2 && size <= kMaxPlantedBlock ? size : 0;
}

PlantedImage image_of(std::size_t players, RandomStream& random) {
  if (players % 2 != 0)
    throw input_error(fmt::format("a planted image needs an even number of players, not {}", players));
  const std::size_t patches = players / 2;
  const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(patches))));
  const auto size = static_cast<double>(side);
  const double y = uniform(random, .25, .75) * size, x = uniform(random, .25, .75) * size;
  PlantedImage image;
  for (std::size_t k = 0; k < patches; ++k) {
    const std::size_t row = k / side, column = k % side;
    const double dy = static_cast<double>(row) - y, dx = static_cast<double>(column) - x;
    const double bump = std::exp(-(dy * dy + dx * dx) / (2 * std::pow(.18 * size, 2)));
    image.weights.push_back(static_cast<std::uint32_t>(std::lround(1 + uniform(random, 40, 70) * bump)));
  }
  return image;
}

}  // namespace

std::vector<std::string> planted_families() {
  return {"mix", "masked", "random", "link", "net", "tail", "image", "null"};
}

PlantedSpec planted_family(const std::string& family, std::size_t players, std::uint64_t seed) {
  RandomStream random(seed, Purpose::planted_game);
  PlantedSpec spec;
  for (std::size_t i = 0; i < players; ++i) spec.names.push_back(fmt::format("p{}", i));
  if (family == "image") {
    spec.image = image_of(players, random);
    return spec;
  }
  Builder build(random);
  spec.base = 2;
  if (family == "mix" || family == "tail") {
    add_mix(build);
  } else if (family == "masked") {
    add_masked(build);
  } else if (family == "random") {
    add_random(build, random);
  } else if (family == "link" || family == "net") {
    spec.base = 0;
    family == "link" ? add_link(build, random) : add_net(build, random);
  } else if (const unsigned size = needle_size(family); size > 0) {
    add_needle(build, size);
  } else if (family != "null") {
    throw input_error(
        fmt::format("there is no planted family \"{}\"", family),
        fmt::format("families: {}, needleK (K = 2 to 16)", fmt::join(planted_families(), ", ")));
  }
  spec.blocks = build.placed(family, players, RandomStream(seed, Purpose::planted_places, players));
  if (family == "tail") {
    spec.additive.resize(players);
    for (double& effect : spec.additive) effect = .004 * normal(random);
    for (const PlantedBlock& block : spec.blocks) {
      for (const std::uint32_t player : block.players) spec.additive[player] = 0;
    }
  }
  return spec;
}

}  // namespace hifi
