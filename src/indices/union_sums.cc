#include "indices/union_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace hifi {

// The array over the players left, one slice per number of players that count outside of S.
struct UnionSums::Part {
  const double* values;
  std::size_t stride;  // between slices
  std::size_t slices;
  std::size_t left;   // players
  std::size_t first;  // of them
};

namespace {

// out = a + factor * b
void combine(const double* a, const double* b, double factor, std::size_t size, double* out) {
  for (std::size_t k = 0; k < size; ++k) out[k] = a[k] + factor * b[k];
}

// Numbers that the sums of all sets of `low` players take in all blocks.
double block_numbers(std::size_t players, std::size_t order, std::size_t low) {
  double numbers = 0;
  for (std::size_t s = 0; s <= std::min(order, low); ++s)
    numbers += static_cast<double>(sets_of_size(low, s)) * static_cast<double>(low - s + 1);
  return std::ldexp(numbers, static_cast<int>(players - low));
}

// Players of a block: few enough for the cache, unless so many sets are asked for that keeping their sums for
// all blocks costs more than it saves.
std::size_t block_players(std::size_t players, std::size_t order) {
  constexpr std::size_t kCache = 13;
  constexpr double kMostNumbers = 1 << 21;
  if (players <= kCache || block_numbers(players, order, kCache) > kMostNumbers) return players;
  return kCache;
}

// One slice more per folded player.
std::size_t level_numbers(std::size_t players, std::size_t left) { return (players - left + 1) << left; }

}  // namespace

UnionSums::UnionSums(std::size_t players, std::size_t order)
    : players_(players), order_(order), low_(block_players(players, order)) {
  for (std::size_t left = 0; left < std::max(low_, players - low_); ++left)
    level_.push_back(std::make_unique_for_overwrite<double[]>(level_numbers(players, left)));
  if (low_ < players) blocks_.resize(static_cast<std::size_t>(block_numbers(players, order, low_)));
}

std::uint64_t UnionSums::memory(std::size_t players, std::size_t order) {
  const std::size_t low = block_players(players, order);
  double numbers = low < players ? block_numbers(players, order, low) : 0;
  for (std::size_t left = 0; left < std::max(low, players - low); ++left)
    numbers += static_cast<double>(level_numbers(players, left));
  return static_cast<std::uint64_t>(numbers) * sizeof(double);
}

void UnionSums::run(std::span<const double> values, bool alternating, const Visit& visit) {
  with_ = alternating ? -1 : 1;
  const Visit but_empty = [&](std::uint64_t set, std::span<const double> sums) {
    if (set != 0) visit(set, sums);
  };
  if (low_ == players_) return fold({values.data(), 0, 1, players_, 0}, 0, order_, but_empty);

  const std::size_t high = players_ - low_;
  const std::size_t blocks = std::size_t{1} << high;
  std::vector<std::pair<std::uint64_t, std::size_t>>
      found;  // a set of the first players, where its sums begin
  for (std::size_t block = 0; block < blocks; ++block) {
    std::size_t begin = 0;
    const auto keep = [&](std::uint64_t set, std::span<const double> sums) {
      if (block == 0) found.emplace_back(set, begin);
      for (std::size_t q = 0; q < sums.size(); ++q) blocks_[begin + q * blocks + block] = sums[q];
      begin += sums.size() * blocks;
    };
    fold({values.data() + (block << low_), 0, 1, low_, 0}, 0, order_, keep);
  }
  for (const auto& [set, begin] : found) {
    const auto size = static_cast<std::size_t>(std::popcount(set));
    fold({blocks_.data() + begin, blocks, low_ - size + 1, high, low_}, set, order_ - size, but_empty);
  }
}

void UnionSums::fold(const Part& part, std::uint64_t set, std::size_t free, const Visit& visit) {
  if (part.left == 0) {
    visit(set, {part.values, part.slices});
    return;
  }
  const std::size_t player = part.left - 1;
  const std::size_t half = std::size_t{1} << player;
  double* out = level_[player].get();
  const auto without = [&](std::size_t slice) { return part.values + slice * part.stride; };
  const auto with = [&](std::size_t slice) { return part.values + slice * part.stride + half; };
  if (free > 0) {
    for (std::size_t q = 0; q < part.slices; ++q) combine(without(q), with(q), with_, half, out + q * half);
    fold({out, half, part.slices, player, part.first}, set | std::uint64_t{1} << (part.first + player),
         free - 1, visit);
  }
  std::copy_n(without(0), half, out);
  for (std::size_t q = 1; q < part.slices; ++q) combine(without(q), with(q - 1), with_, half, out + q * half);
  const double* last = with(part.slices - 1);
  for (std::size_t k = 0; k < half; ++k) out[part.slices * half + k] = with_ * last[k];
  fold({out, half, part.slices + 1, player, part.first}, set, free, visit);
}

std::size_t sets_of_size(std::size_t players, std::size_t size) {
  if (size > players) return 0;
  std::size_t count = 1;
  for (std::size_t k = 1; k <= size; ++k) count = count * (players - size + k) / k;
  return count;
}

std::size_t position_in_size(std::uint64_t set, std::size_t players) {
  std::size_t position = 0;
  auto left = static_cast<std::size_t>(std::popcount(set));
  for (std::size_t i = 0; left > 0; ++i) {
    if ((set >> i) & 1U) {
      --left;
    } else {  // all sets that take player i here come first
      position += sets_of_size(players - i - 1, left - 1);
    }
  }
  return position;
}

}  // namespace hifi
