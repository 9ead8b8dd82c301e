// The gains of one player over a complete lattice: extremes, contexts, quantiles, without storing them.
//
// Quantiles by sampled brackets (the idea of Floyd and Rivest 1975, doi 10.1145/360680.360691): a
// sample gives an interval around each quantile that holds few gains; one pass counts the gains below
// and keeps those inside; the order statistics are then found among the few. The counts tell if an
// interval missed, and then it is widened: the answer is exact, only the time is random.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/random.h"
#include "decomposition/scan_dense.h"
#include "decomposition/scan_kernels.h"

namespace hifi {

namespace {

constexpr int kBlockBits = 11;
constexpr std::size_t kBlock = std::size_t{1} << kBlockBits;
constexpr unsigned kLaneBits = 3;
constexpr double kBracketSigmas = 3;  // one player in a hundred needs a second pass

// Contexts of player i are numbered by their masks with bit i taken out.
struct PlayerGains {
  const DenseLattice& lattice;
  unsigned player;

  std::uint64_t count() const { return lattice.losses.size() / 2; }
  double at(std::uint64_t number) const { return lattice.gain(player, insert_zero(number, player)); }

  // The gains of `size` contexts from `first` on, both multiples of eight.
  void fill(std::uint64_t first, std::size_t size, double* gains) const {
    if (player >= kLaneBits) {
      scan_kernels().differences(lattice.losses.data(), first / kLanes, size / kLanes, player - kLaneBits,
                                 gains);
    } else {
      for (std::size_t k = 0; k < size; ++k) gains[k] = at(first + k);
    }
  }
  // The numbers' low kBlockBits bits are the inside of a block, the rest is the block's number.
  Blocks blocks() const {
    const std::uint64_t others = lattice.everyone() & ~player_bit(player);
    const std::uint64_t inner = deposit(kBlock - 1, others);
    return {.inner = inner, .outer = others & ~inner};
  }
};

struct BlockExtremes {
  std::vector<double> low, high;
};

void find_contexts(const PlayerGains& gains, const BlockExtremes& extremes,
                   const std::vector<std::uint32_t>& order, GainFinding& found) {
  const DenseLattice& lattice = gains.lattice;
  found.lowest = *std::min_element(extremes.low.begin(), extremes.low.end());
  found.highest = *std::max_element(extremes.high.begin(), extremes.high.end());
  found.lowest_context = smallest_tie(
      gains.blocks(), order, tie_threshold(-found.lowest, lattice.tolerance),
      [&](std::uint32_t block) { return -extremes.low[block]; },
      [&](std::uint64_t c) { return -lattice.gain(gains.player, c); });
  found.highest_context = smallest_tie(
      gains.blocks(), order, tie_threshold(found.highest, lattice.tolerance),
      [&](std::uint32_t block) { return extremes.high[block]; },
      [&](std::uint64_t c) { return lattice.gain(gains.player, c); });
}

// Gains at pseudo-random contexts: a regular grid would fix some players' bits.
std::vector<double> sample_gains(const PlayerGains& gains, const std::vector<std::uint64_t>& numbers) {
  std::vector<double> sample(numbers.size());
  for (std::size_t k = 0; k < numbers.size(); ++k) sample[k] = gains.at(numbers[k]);
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Sample order statistics `sigmas` standard errors of the rank to both sides of each quantile.
// REQUIRES: the sample is sorted
Brackets brackets_around(const std::vector<double>& sample, double sigmas) {
  constexpr double kShares[] = {0.05, 0.5, 0.95};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto size = static_cast<double>(sample.size());
  Brackets brackets;
  for (std::size_t q = 0; q < 3; ++q) {
    const double half = sigmas * std::sqrt(size * kShares[q] * (1 - kShares[q])) + 1;
    const double low = std::floor(size * kShares[q] - half);
    const double high = std::ceil(size * kShares[q] + half);
    brackets.low[q] = low < 0 ? -kInfinity : sample[static_cast<std::size_t>(low)];
    brackets.high[q] = high >= size ? kInfinity : sample[static_cast<std::size_t>(high)];
  }
  return brackets;
}

// The order statistics `rank` and the next one (or the last twice) of all gains; nothing if one lies
// outside bracket q. `inside`: the gains strictly inside the bracket; reordered.
std::optional<std::pair<double, double>> two_order_statistics(const Brackets& brackets, std::size_t q,
                                                              std::span<double> inside, std::int64_t rank,
                                                              std::int64_t last) {
  const std::int64_t next = std::min(rank + 1, last);
  const std::int64_t begin = brackets.up_to_low[q];
  const std::int64_t end = begin + static_cast<std::int64_t>(inside.size());
  if (rank < brackets.below_low[q] || next >= brackets.up_to_high[q]) return std::nullopt;
  const auto place = inside.begin() + (std::clamp(rank, begin, end) - begin);
  std::nth_element(inside.begin(), place, inside.end());
  const auto at = [&](std::int64_t wanted) {
    if (wanted < begin) return brackets.low[q];
    if (wanted >= end) return brackets.high[q];
    // What stands behind an order statistic is not smaller, so its minimum is the next one.
    return wanted == rank || rank < begin ? *place : *std::min_element(place + 1, inside.end());
  };
  return std::pair{at(rank), at(next)};
}

std::optional<GainQuantiles> quantiles_from(const Brackets& brackets, std::span<const double> inside_any,
                                            std::uint64_t count) {
  std::array<double, 3> found{};
  const auto positions = quantile_positions(count);
  std::vector<double> inside(inside_any.size() + 1);
  for (std::size_t q = 0; q < 3; ++q) {
    std::size_t kept = 0;
    for (const double gain : inside_any) {  // no branch: always written, kept if inside
      inside[kept] = gain;
      kept += static_cast<std::size_t>((gain > brackets.low[q]) & (gain < brackets.high[q]));
    }
    const auto statistics = two_order_statistics(brackets, q, std::span(inside).first(kept),
                                                 static_cast<std::int64_t>(positions[q].below),
                                                 static_cast<std::int64_t>(count) - 1);
    if (!statistics) return std::nullopt;
    found[q] = interpolate(statistics->first, statistics->second, positions[q].share) + 0.0;
  }
  return GainQuantiles{found[0], found[1], found[2]};
}

// One pass over all gains: counts into the brackets, and the extremes of every block.
std::vector<double> tally(const PlayerGains& gains, Brackets& brackets, BlockExtremes& extremes) {
  alignas(64) double block[kBlock];
  std::vector<double> inside(kBlock + 1);
  std::size_t kept = 0;
  for (std::size_t b = 0; b < extremes.low.size(); ++b) {
    gains.fill(b * kBlock, kBlock, block);
    scan_kernels().extremes(block, kBlock / kLanes, &extremes.low[b], &extremes.high[b]);
    if (inside.size() < kept + kBlock + 1) inside.resize(2 * inside.size());
    kept += scan_kernels().tally(block, kBlock / kLanes, &brackets, inside.data() + kept);
  }
  inside.resize(kept);
  return inside;
}

GainFinding scan_many(const PlayerGains& gains, const std::vector<std::uint32_t>& order,
                      const std::vector<std::uint64_t>& sampled) {
  GainFinding found;
  BlockExtremes extremes{std::vector<double>(order.size()), std::vector<double>(order.size())};
  const std::vector<double> sample = sample_gains(gains, sampled);
  // Ends at the latest with infinite brackets, which hold everything.
  for (double sigmas = kBracketSigmas;; sigmas *= 4) {
    Brackets brackets = brackets_around(sample, sigmas);
    const std::vector<double> inside = tally(gains, brackets, extremes);
    if (const auto quantiles = quantiles_from(brackets, inside, gains.count())) {
      found.quantiles = *quantiles;
      break;
    }
  }
  find_contexts(gains, extremes, order, found);
  return found;
}

// At most one block.
GainFinding scan_few(const PlayerGains& gains) {
  GainFinding found;
  std::vector<double> all(gains.count());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = gains.at(k);
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  find_contexts(gains, {{*low}, {*high}}, {0}, found);
  found.quantiles = gain_quantiles(all);
  return found;
}

// About count^(2/3) context numbers, the same for every player.
std::vector<std::uint64_t> sampled_numbers(int bits) {
  std::vector<std::uint64_t> numbers(std::size_t{1} << (2 * bits / 3));
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const auto words = philox4x32({static_cast<std::uint32_t>(k), 0, 0, 0}, {1, 0});
    numbers[k] = (std::uint64_t{words[0]} << 32 | words[1]) >> (64 - bits);
  }
  return numbers;
}

}  // namespace

std::vector<FeatureProfile> scan_dense_gains(const DenseLattice& lattice, Workers& workers) {
  std::vector<FeatureProfile> profiles(lattice.players);
  const int bits = static_cast<int>(lattice.players) - 1;
  const bool many = bits > kBlockBits;
  const auto order = many ? context_order(bits - kBlockBits) : std::vector<std::uint32_t>{};
  const auto sampled = many ? sampled_numbers(bits) : std::vector<std::uint64_t>{};
  workers.parallel_for(lattice.players, [&](std::size_t i) {
    const auto player = static_cast<unsigned>(i);
    const PlayerGains gains{lattice, player};
    GainFinding found = many ? scan_many(gains, order, sampled) : scan_few(gains);
    found.contexts = gains.count();
    found.alone = gains.at(0);
    found.last = gains.at(gains.count() - 1);
    profiles[i] = feature_profile(lattice.players, player, std::move(found));
  });
  return profiles;
}

}  // namespace hifi
