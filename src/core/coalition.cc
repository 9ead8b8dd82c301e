#include "hifi/coalition.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "hifi/error.h"

namespace hifi {

Coalition::Coalition(std::size_t players) : players_(players) {
  if (players > kMaxPlayers) {
    throw input_error(fmt::format("{} players are too many: the limit is {}", players, kMaxPlayers),
                      "merge players with --groups");
  }
  if (words() > 1) rest_.resize(words() - 1);
}

Coalition Coalition::from_mask(std::size_t players, std::uint64_t mask) {
  Coalition c(players);
  c.first_ = mask;
  return c;
}

Coalition Coalition::from_string(std::string_view bits) {
  Coalition c(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] == '1') {
      c.insert(i);
    } else if (bits[i] != '0') {
      throw input_error(fmt::format("coalition \"{}\" is not a string of 0 and 1", bits));
    }
  }
  return c;
}

Coalition Coalition::full(std::size_t players) {
  Coalition c(players);
  for (std::size_t i = 0; i < players; ++i) c.insert(i);
  return c;
}

std::size_t Coalition::count() const {
  auto total = static_cast<std::size_t>(std::popcount(first_));
  for (const std::uint64_t w : rest_) total += static_cast<std::size_t>(std::popcount(w));
  return total;
}

Coalition Coalition::with(std::size_t player) const {
  Coalition c = *this;
  c.insert(player);
  return c;
}

Coalition Coalition::without(std::size_t player) const {
  Coalition c = *this;
  c.erase(player);
  return c;
}

std::vector<std::uint32_t> Coalition::members() const {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < players_; ++i) {
    if (contains(i)) result.push_back(static_cast<std::uint32_t>(i));
  }
  return result;
}

std::string Coalition::to_string() const {
  std::string bits(players_, '0');
  for (const std::uint32_t i : members()) bits[i] = '1';
  return bits;
}

std::uint64_t Coalition::hash() const {
  const std::uint64_t head = XXH3_64bits_withSeed(&first_, sizeof first_, players_);
  if (rest_.empty()) return head;
  return XXH3_64bits_withSeed(rest_.data(), rest_.size() * sizeof rest_[0], head);
}

std::strong_ordering operator<=>(const Coalition& a, const Coalition& b) {
  if (a.players_ != b.players_) return a.players_ <=> b.players_;
  if (const auto by_size = a.count() <=> b.count(); by_size != 0) return by_size;
  for (std::size_t w = 0; w < a.words(); ++w) {
    const std::uint64_t differ = a.word(w) ^ b.word(w);
    if (differ == 0) continue;
    const std::uint64_t first = differ & (~differ + 1);
    return (a.word(w) & first) != 0 ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return std::strong_ordering::equal;
}

}  // namespace hifi
