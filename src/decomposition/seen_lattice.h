// The part of a lattice that was seen: cells, and the edges (C, C+i) between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "hifi/coalition.h"

namespace hifi {

// Cells are numbered in the order of contexts, so that the smaller of two tied contexts is the one with the
// smaller number.
class SeenLattice {
 public:
  struct Cell {
    const Coalition* coalition;
    std::uint32_t place;  // in the list that was given
    std::uint64_t key;
  };
  struct Up {
    std::uint32_t player;
    std::uint32_t above;  // the cell of C + player
  };
  struct Edge {
    std::uint32_t below;
    std::uint32_t above;
  };

  // REQUIRES: the coalitions are distinct and outlive the lattice
  SeenLattice(std::size_t players, std::span<const Coalition> coalitions, Workers& workers);

  std::size_t players() const { return players_; }
  std::size_t size() const { return cells_.size(); }
  const Coalition& coalition(std::size_t cell) const { return *cells_[cell].coalition; }
  std::uint32_t place(std::size_t cell) const { return cells_[cell].place; }
  // The edges upwards from a cell, by player.
  std::span<const Up> above(std::size_t cell) const {
    return {ups_.data() + begin_[cell], begin_[cell + 1] - begin_[cell]};
  }
  // The edges of one player, contexts in increasing order.
  std::span<const Edge> edges(std::size_t player) const {
    return {edges_.data() + player_begin_[player], player_begin_[player + 1] - player_begin_[player]};
  }

  // visit(j, C, C+i, C+j, C+ij) for all diamonds of the player i with players j > i, C in increasing order.
  template <class Visit>
  void for_each_diamond(std::uint32_t i, Visit visit) const;

 private:
  void number_cells(std::span<const Coalition> coalitions);
  void build_index();
  void find_edges(Workers& workers);
  void sort_by_player();
  void find_edges_from(std::size_t cell, std::vector<Up>& found) const;
  std::uint32_t find_above(const Cell& cell, std::size_t player) const;

  std::size_t players_;
  std::vector<Cell> cells_;
  std::vector<std::uint64_t> begin_;
  std::vector<Up> ups_;
  std::vector<std::uint64_t> player_begin_;
  std::vector<Edge> edges_;
  // Zobrist hashing: the key of a coalition is the xor of its players' random keys, so that the key
  // of C + i is one xor away. A match is verified; the keys decide speed, never the answer.
  std::vector<std::uint64_t> player_keys_;
  std::vector<std::uint32_t> slots_;   // open addressing on the low bits of the key
  std::vector<std::uint64_t> filter_;  // one bit per key by its high bits: most misses end here
  unsigned filter_shift_ = 0;
};

// A diamond needs j among the edges upwards of both C and C+i: the shorter list is walked and the
// longer one searched, so that {} with its hundreds of neighbours costs no more than what it yields.
template <class Visit>
void SeenLattice::for_each_diamond(std::uint32_t i, Visit visit) const {
  const auto by_player = [](const Up& up, std::uint32_t player) { return up.player < player; };
  for (const Edge& side : edges(i)) {
    auto shorter = above(side.below);
    auto longer = above(side.above);
    const bool swapped = shorter.size() > longer.size();
    if (swapped) std::swap(shorter, longer);
    auto from = longer.begin();
    for (auto up = std::lower_bound(shorter.begin(), shorter.end(), i + 1, by_player); up != shorter.end();
         ++up) {
      from = std::lower_bound(from, longer.end(), up->player, by_player);
      if (from == longer.end()) break;
      if (from->player != up->player) continue;
      visit(up->player, side.below, side.above, swapped ? from->above : up->above,
            swapped ? up->above : from->above);
    }
  }
}

}  // namespace hifi
