#include "indices/union_sums.h"

#include <algorithm>
#include <bit>

namespace hifi {

// The array over the players left, one slice per number of players that count outside of S.
struct UnionSums::Part {
  const double* values;
  std::size_t stride;  // between slices
  std::size_t slices;
  std::size_t left;  // players
};

namespace {

// out = a + factor * b
void combine(const double* a, const double* b, double factor, std::size_t size, double* out) {
  for (std::size_t k = 0; k < size; ++k) out[k] = a[k] + factor * b[k];
}

}  // namespace

UnionSums::UnionSums(std::size_t players, std::size_t order) : players_(players), order_(order) {
  for (std::size_t left = 0; left < players; ++left)
    level_.emplace_back((players - left + 1) << left);  // one slice more per folded player
}

std::uint64_t UnionSums::memory(std::size_t players) {
  std::uint64_t numbers = 0;
  for (std::size_t left = 0; left < players; ++left) numbers += std::uint64_t{players - left + 1} << left;
  return numbers * sizeof(double);
}

void UnionSums::run(std::span<const double> values, bool alternating, const Visit& visit) {
  with_ = alternating ? -1 : 1;
  fold({values.data(), 0, 1, players_}, 0, order_, visit);
}

void UnionSums::fold(const Part& part, std::uint64_t set, std::size_t free, const Visit& visit) {
  if (part.left == 0) {
    if (set != 0) visit(set, {part.values, part.slices});
    return;
  }
  const std::size_t player = part.left - 1;
  const std::size_t half = std::size_t{1} << player;
  double* out = level_[player].data();
  const auto without = [&](std::size_t slice) { return part.values + slice * part.stride; };
  const auto with = [&](std::size_t slice) { return part.values + slice * part.stride + half; };
  if (free > 0) {
    for (std::size_t q = 0; q < part.slices; ++q) combine(without(q), with(q), with_, half, out + q * half);
    fold({out, half, part.slices, player}, set | std::uint64_t{1} << player, free - 1, visit);
  }
  std::copy_n(without(0), half, out);
  for (std::size_t q = 1; q < part.slices; ++q) combine(without(q), with(q - 1), with_, half, out + q * half);
  const double* last = with(part.slices - 1);
  for (std::size_t k = 0; k < half; ++k) out[part.slices * half + k] = with_ * last[k];
  fold({out, half, part.slices + 1, player}, set, free, visit);
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
