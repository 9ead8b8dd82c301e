#include "core/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace hifi {

std::string hex_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Hash128 hash_numbers(std::span<const double> values, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(values.data(), values.size_bytes(), seed);
  return {hash.low64, hash.high64};
}

}  // namespace hifi
