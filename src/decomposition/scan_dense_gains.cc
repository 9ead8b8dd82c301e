// The gains of one player over a complete lattice: extremes, contexts, quantiles, without storing them.
//
// Quantiles by sampled brackets (the idea of Floyd and Rivest 1975, doi 10.1145/360680.360691): a
// sample gives an interval around each quantile that holds few gains; one pass counts the gains below
// and keeps those inside; the order statistics are then found among the few. The counts tell if an
// interval missed, and then it is widened: the answer is exact, only the time is random.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
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

// Buffers that grow to what a player needs and serve the next one.
struct Scratch {
  std::vector<double> inside_any, inside, near;

  static double* reserve(std::vector<double>& buffer, std::size_t size) {
    if (buffer.size() < size) buffer.resize(std::max(size, 2 * buffer.size()));
    return buffer.data();
  }
};

// As many as there are players at work: fresh memory for each would cost a fifth of the time in page faults.
class ScratchPool {
 public:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Scratch>();
    auto scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
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

// The order statistics `rank` and `rank + 1` (or the last twice); reorders the values. A small sample
// narrows them down first, without the unpredictable branches of nth_element.
std::pair<double, double> two_of(std::span<double> values, std::size_t rank, std::vector<double>& buffer) {
  constexpr std::size_t kSample = 256;
  constexpr std::size_t kMargin = 32;  // four standard errors of a sample rank
  if (values.size() >= 4 * kSample) {
    std::array<double, kSample> sample;
    for (std::size_t k = 0; k < kSample; ++k) sample[k] = values[k * (values.size() / kSample)];
    std::sort(sample.begin(), sample.end());
    const std::size_t middle = rank * kSample / values.size();
    const double low = sample[middle < kMargin ? 0 : middle - kMargin];
    const double high = sample[std::min(middle + kMargin, kSample - 1)];
    double* near = Scratch::reserve(buffer, values.size() + 1);
    std::size_t kept = 0, below = 0;
    for (const double value : values) {
      near[kept] = value;
      kept += static_cast<std::size_t>((value >= low) & (value <= high));
      below += static_cast<std::size_t>(value < low);
    }
    if (rank >= below && rank + 1 < below + kept) {
      values = {near, kept};
      rank -= below;
    }
  }
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), place, values.end());
  // What stands behind an order statistic is not smaller, so its minimum is the next one.
  return {*place, place + 1 == values.end() ? *place : *std::min_element(place + 1, values.end())};
}

// The order statistics `rank` and the next one (or the last twice) of all gains; nothing if one lies
// outside bracket q. `inside`: the gains strictly inside the bracket; reordered.
std::optional<std::pair<double, double>> two_order_statistics(const Brackets& brackets, std::size_t q,
                                                              std::span<double> inside, std::int64_t rank,
                                                              std::int64_t last,
                                                              std::vector<double>& buffer) {
  const std::int64_t next = std::min(rank + 1, last);
  const std::int64_t begin = brackets.up_to_low[q];
  const std::int64_t end = begin + static_cast<std::int64_t>(inside.size());
  if (rank < brackets.below_low[q] || next >= brackets.up_to_high[q]) return std::nullopt;
  if (next < begin) return std::pair{brackets.low[q], brackets.low[q]};
  if (rank >= end) return std::pair{brackets.high[q], brackets.high[q]};
  if (rank < begin) {  // the last of the gains equal to low
    const double above = inside.empty() ? brackets.high[q] : *std::min_element(inside.begin(), inside.end());
    return std::pair{brackets.low[q], above};
  }
  auto found = two_of(inside, static_cast<std::size_t>(rank - begin), buffer);
  if (next >= end) found.second = brackets.high[q];
  return found;
}

std::optional<GainQuantiles> quantiles_from(const Brackets& brackets, std::size_t inside_any,
                                            std::uint64_t count, Scratch& scratch) {
  std::array<double, 3> found{};
  const auto positions = quantile_positions(count);
  double* inside = Scratch::reserve(scratch.inside, inside_any + 1);
  for (std::size_t q = 0; q < 3; ++q) {
    std::size_t kept = 0;
    for (const double gain : std::span(scratch.inside_any).first(inside_any)) {
      inside[kept] = gain;  // no branch: always written, kept if inside
      kept += static_cast<std::size_t>((gain > brackets.low[q]) & (gain < brackets.high[q]));
    }
    const auto rank = static_cast<std::int64_t>(positions[q].below);
    const auto last = static_cast<std::int64_t>(count) - 1;
    const auto two = two_order_statistics(brackets, q, {inside, kept}, rank, last, scratch.near);
    if (!two) return std::nullopt;
    found[q] = interpolate(two->first, two->second, positions[q].share) + 0.0;
  }
  return GainQuantiles{found[0], found[1], found[2]};
}

// One pass over all gains: counts into the brackets, and the extremes of every block. Returns how many
// gains lie inside any bracket.
std::size_t tally(const PlayerGains& gains, Brackets& brackets, BlockExtremes& extremes, Scratch& scratch) {
  alignas(64) double block[kBlock];
  std::size_t kept = 0;
  for (std::size_t b = 0; b < extremes.low.size(); ++b) {
    gains.fill(b * kBlock, kBlock, block);
    scan_kernels().extremes(block, kBlock / kLanes, &extremes.low[b], &extremes.high[b]);
    double* inside = Scratch::reserve(scratch.inside_any, kept + kBlock + 1);
    kept += scan_kernels().tally(block, kBlock / kLanes, &brackets, inside + kept);
  }
  return kept;
}

GainFinding scan_many(const PlayerGains& gains, const std::vector<std::uint32_t>& order,
                      const std::vector<std::uint64_t>& sampled, Scratch& scratch) {
  GainFinding found;
  BlockExtremes extremes{std::vector<double>(order.size()), std::vector<double>(order.size())};
  const std::vector<double> sample = sample_gains(gains, sampled);
  // Ends at the latest with infinite brackets, which hold everything.
  for (double sigmas = kBracketSigmas;; sigmas *= 4) {
    Brackets brackets = brackets_around(sample, sigmas);
    const std::size_t inside_any = tally(gains, brackets, extremes, scratch);
    if (const auto quantiles = quantiles_from(brackets, inside_any, gains.count(), scratch)) {
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
  ScratchPool pool;
  workers.parallel_for(lattice.players, [&](std::size_t i) {
    const auto player = static_cast<unsigned>(i);
    const PlayerGains gains{lattice, player};
    GainFinding found;
    if (many) {
      auto scratch = pool.take();
      found = scan_many(gains, order, sampled, *scratch);
      pool.give_back(std::move(scratch));
    } else {
      found = scan_few(gains);
    }
    found.contexts = gains.count();
    found.alone = gains.at(0);
    found.last = gains.at(gains.count() - 1);
    profiles[i] = feature_profile(lattice.players, player, std::move(found));
  });
  return profiles;
}

}  // namespace hifi
