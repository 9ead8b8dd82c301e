// Heads as players: which heads a player has, and which heads of a layer a coalition leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "game/game.h"

namespace hifi {

struct Head {
  std::uint32_t layer = 0;
  std::uint32_t head = 0;
  friend auto operator<=>(const Head&, const Head&) = default;
};

std::string head_name(Head head);
// "9.6". Throws Error(input) naming `place` if it is none of a model with so many layers and heads.
Head parse_head(const std::string& text, std::size_t layers, std::size_t heads, const std::string& place);

struct CircuitPlayers {
  std::vector<std::string> names;
  std::vector<std::vector<Head>> heads;  // of each player

  std::size_t size() const { return names.size(); }
};

// One player per head named; `all` is every head of the model. Throws Error(input) naming the head.
CircuitPlayers players_from_heads(const std::vector<std::string>& names, std::size_t layers,
                                  std::size_t heads);
// {"movers":["9.9","9.6"],"layer 3":["3.0",..]}. Throws Error(input) naming file and group.
CircuitPlayers players_from_head_groups(const std::string& path, std::size_t layers, std::size_t heads);

// Coalitions in the order of the first layer in which they differ. A coalition's key has the bits of its
// players, those of the earliest layer first; sorted by key, coalitions that agree up to a layer lie
// together.
class SortedCoalitions {
 public:
  SortedCoalitions(const CircuitPlayers& players, std::size_t layers, const CoalitionList& list);

  std::size_t size() const { return order_.size(); }
  // Position in the list of the k-th in order.
  std::uint32_t index(std::size_t k) const { return order_[k]; }
  // True if k - 1 and k differ in what layers 0 .. layer see.
  bool differs_up_to(std::size_t k, std::size_t layer) const { return difference_[k] < seen_[layer]; }
  // Heads of the layer that the k-th leaves out, bit h = head h.
  std::uint64_t absent(std::size_t k, std::size_t layer) const;

  // The first layer with a player; `layers` if there is none.
  static std::size_t first_layer(const CircuitPlayers& players, std::size_t layers);

 private:
  struct Switch {
    std::uint32_t bit = 0;  // of the key
    std::uint64_t heads = 0;
  };
  bool has(std::size_t k, std::uint32_t bit) const {
    return (keys_[k * words_ + bit / 64] >> (63 - bit % 64)) & 1U;
  }

  std::size_t words_ = 0;
  std::vector<std::uint64_t> keys_;  // in order
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> difference_;  // first bit in which k - 1 and k differ
  std::vector<std::uint32_t> seen_;        // bits that layers 0 .. l see
  std::vector<std::vector<Switch>> layers_;
};

}  // namespace hifi
