#include "decomposition/seen_lattice.h"

#include <bit>
#include <limits>

#include "core/random.h"
#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kCellsPerTask = 512;

// True if `above` is `below` plus the player.
bool is_one_more(const Coalition& below, const Coalition& above, std::size_t player) {
  for (std::size_t w = 0; w < below.words(); ++w) {
    const std::uint64_t added = w == player / 64 ? std::uint64_t{1} << (player % 64) : 0;
    if ((below.word(w) | added) != above.word(w)) return false;
  }
  return true;
}

}  // namespace

SeenLattice::SeenLattice(std::size_t players, std::span<const Coalition> coalitions, Workers& workers)
    : players_(players) {
  number_cells(coalitions);
  build_index();
  find_edges(workers);
  sort_by_player();
}

void SeenLattice::number_cells(std::span<const Coalition> coalitions) {
  if (coalitions.size() >= kNone) throw Error(ErrorCode::bug, "more coalitions than cell numbers");
  player_keys_.resize(players_);
  for (std::uint32_t i = 0; i < players_; ++i) {
    const auto bits = philox4x32({i, 0, 0, 0}, {0, 0});
    player_keys_[i] = std::uint64_t{bits[0]} << 32 | bits[1];
  }
  cells_.reserve(coalitions.size());
  for (const Coalition& coalition : coalitions) {
    std::uint64_t key = 0;
    for (std::size_t w = 0; w < coalition.words(); ++w) {
      for (std::uint64_t members = coalition.word(w); members != 0; members &= members - 1) {
        key ^= player_keys_[w * 64 + static_cast<std::size_t>(std::countr_zero(members))];
      }
    }
    cells_.push_back({&coalition, static_cast<std::uint32_t>(cells_.size()), key});
  }
  std::sort(cells_.begin(), cells_.end(),
            [](const Cell& a, const Cell& b) { return *a.coalition < *b.coalition; });
}

void SeenLattice::build_index() {
  const std::size_t capacity = std::bit_ceil(2 * cells_.size() + 2);
  slots_.assign(capacity, kNone);
  const std::size_t filter_bits = 8 * capacity;
  filter_.assign((filter_bits + 63) / 64, 0);
  filter_shift_ = static_cast<unsigned>(64 - std::countr_zero(filter_bits));
  for (std::uint32_t index = 0; index < cells_.size(); ++index) {
    const std::uint64_t key = cells_[index].key;
    std::size_t slot = key & (capacity - 1);
    while (slots_[slot] != kNone) slot = (slot + 1) & (capacity - 1);
    slots_[slot] = index;
    const std::uint64_t bit = key >> filter_shift_;
    filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

// REQUIRES: the cell lacks the player
std::uint32_t SeenLattice::find_above(const Cell& cell, std::size_t player) const {
  const std::uint64_t key = cell.key ^ player_keys_[player];
  const std::uint64_t bit = key >> filter_shift_;
  if (((filter_[bit / 64] >> (bit % 64)) & 1U) == 0) return kNone;
  for (std::size_t slot = key & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t index = slots_[slot];
    if (index == kNone) return kNone;
    if (cells_[index].key == key && is_one_more(*cell.coalition, *cells_[index].coalition, player)) {
      return index;
    }
  }
}

void SeenLattice::find_edges_from(std::size_t index, std::vector<Up>& found) const {
  const Cell& cell = cells_[index];
  for (std::size_t w = 0; w < cell.coalition->words(); ++w) {
    for (std::uint64_t absent = ~cell.coalition->word(w); absent != 0; absent &= absent - 1) {
      const std::size_t player = w * 64 + static_cast<std::size_t>(std::countr_zero(absent));
      if (player >= players_) break;
      const std::uint32_t above = find_above(cell, player);
      if (above != kNone) found.push_back({static_cast<std::uint32_t>(player), above});
    }
  }
}

void SeenLattice::find_edges(Workers& workers) {
  const std::size_t tasks = (cells_.size() + kCellsPerTask - 1) / kCellsPerTask;
  std::vector<std::vector<Up>> parts(tasks);
  begin_.assign(cells_.size() + 1, 0);
  workers.parallel_for(tasks, [&](std::size_t task) {
    const std::size_t end = std::min(cells_.size(), (task + 1) * kCellsPerTask);
    for (std::size_t cell = task * kCellsPerTask; cell < end; ++cell) {
      const std::size_t before = parts[task].size();
      find_edges_from(cell, parts[task]);
      begin_[cell + 1] = parts[task].size() - before;
    }
  });
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) begin_[cell + 1] += begin_[cell];
  ups_.reserve(begin_.back());
  for (const auto& part : parts) ups_.insert(ups_.end(), part.begin(), part.end());
}

void SeenLattice::sort_by_player() {
  player_begin_.assign(players_ + 1, 0);
  for (const Up& up : ups_) ++player_begin_[up.player + 1];
  for (std::size_t i = 0; i < players_; ++i) player_begin_[i + 1] += player_begin_[i];
  edges_.resize(ups_.size());
  std::vector<std::uint64_t> next(player_begin_.begin(), player_begin_.end() - 1);
  for (std::size_t cell = 0; cell < size(); ++cell) {
    for (const Up& up : above(cell)) {
      edges_[next[up.player]++] = {static_cast<std::uint32_t>(cell), up.above};
    }
  }
}

}  // namespace hifi
