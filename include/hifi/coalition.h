// A set of players, 1 to 4096 of them. A value type: no heap up to 64 players.
//
// Order: fewest players first, then lexicographic by player position ({1,4} before {2,3}); this
// is the order in which ties between contexts are settled.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hifi {

inline constexpr std::size_t kMaxPlayers = 4096;

class Coalition {
 public:
  Coalition() = default;
  // REQUIRES: players <= kMaxPlayers
  explicit Coalition(std::size_t players);
  // The coalition of a bit mask, bit i = player i. REQUIRES: players <= 64
  static Coalition from_mask(std::size_t players, std::uint64_t mask);
  // A bit string, first character = first player. Throws Error(input) on other characters.
  static Coalition from_string(std::string_view bits);
  static Coalition full(std::size_t players);

  std::size_t players() const { return players_; }
  std::size_t count() const;
  bool contains(std::size_t player) const { return (word(player / 64) >> (player % 64)) & 1U; }
  void insert(std::size_t player) { set_word(player / 64, word(player / 64) | bit(player)); }
  void erase(std::size_t player) { set_word(player / 64, word(player / 64) & ~bit(player)); }
  Coalition with(std::size_t player) const;
  Coalition without(std::size_t player) const;

  // The first 64 players as a mask.
  std::uint64_t mask() const { return first_; }
  std::size_t words() const { return (players_ + 63) / 64; }
  std::uint64_t word(std::size_t index) const { return index == 0 ? first_ : rest_[index - 1]; }
  void set_word(std::size_t index, std::uint64_t value) { (index == 0 ? first_ : rest_[index - 1]) = value; }

  std::vector<std::uint32_t> members() const;
  std::string to_string() const;
  std::uint64_t hash() const;

  friend bool operator==(const Coalition&, const Coalition&) = default;
  friend std::strong_ordering operator<=>(const Coalition& a, const Coalition& b);

 private:
  static std::uint64_t bit(std::size_t player) { return std::uint64_t{1} << (player % 64); }

  std::size_t players_ = 0;
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> rest_;
};

// The same order on plain masks: true if `a` comes before `b`.
inline bool smaller_context(std::uint64_t a, std::uint64_t b) {
  const int size_a = std::popcount(a);
  const int size_b = std::popcount(b);
  if (size_a != size_b) return size_a < size_b;
  const std::uint64_t differ = a ^ b;
  return (a & differ & (~differ + 1)) != 0;  // the first player in only one of them is in a
}

struct CoalitionHash {
  std::size_t operator()(const Coalition& c) const { return static_cast<std::size_t>(c.hash()); }
};

}  // namespace hifi
