// Content hashes: XXH3, 128 bits, as 32 hexadecimal digits. They identify; they do not protect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hifi {

std::string hex_hash(std::string_view bytes);

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  Hash128& operator^=(const Hash128& other) {
    low ^= other.low;
    high ^= other.high;
    return *this;
  }
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

Hash128 hash_numbers(std::span<const double> values, std::uint64_t seed);

}  // namespace hifi
