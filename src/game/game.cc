#include "game/game.h"

#include <algorithm>

namespace hifi {

namespace {

constexpr std::size_t kReduceChunk = 2'048;  // coalitions per task of the reduction: stays in the L1 cache

}  // namespace

// Each coalition belongs to one task, which adds its losses draw by draw: any thread count gives the same
// sums.
void add_losses(std::span<const Draw> draws, std::span<const double> losses, std::size_t first,
                std::size_t count, BlockSums& sums, Workers& workers) {
  workers.parallel_for((count + kReduceChunk - 1) / kReduceChunk, [&](std::size_t task) {
    const std::size_t begin = task * kReduceChunk;
    const std::size_t size = std::min(kReduceChunk, count - begin);
    double* squares = sums.squares.data() + first + begin;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      const double* loss = losses.data() + d * count + begin;
      double* background = sums.background[draws[d].background_block].data() + first + begin;
      for (std::size_t c = 0; c < size; ++c) {
        background[c] += loss[c];
        squares[c] += loss[c] * loss[c];
      }
      if (sums.round.empty()) continue;
      double* round = sums.round[draws[d].round_block].data() + first + begin;
      for (std::size_t c = 0; c < size; ++c) round[c] += loss[c];
    }
  });
}

std::uint64_t Game::unit_draws() const {
  const std::uint64_t chunk = std::min<std::uint64_t>(std::uint64_t{1} << players(), kLatticeChunk);
  return std::max<std::uint64_t>(1, kUnitEvaluations / chunk);
}

void Game::accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) {
  const std::size_t lattice = std::size_t{1} << players();
  const std::size_t chunk = std::min(kLatticeChunk, lattice);
  buffer_.resize(chunk * draws.size());
  for (std::size_t first = 0; first < lattice; first += chunk) {
    losses(CoalitionList::lattice(players(), first, chunk), draws, buffer_, workers);
    add_losses(draws, buffer_, first, chunk, sums, workers);
  }
}

}  // namespace hifi
