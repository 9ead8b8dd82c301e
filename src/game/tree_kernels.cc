#include "game/tree_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hifi {

namespace {

#define HIFI_INLINE inline __attribute__((always_inline))

using Lanes = std::uint32_t __attribute__((vector_size(32), aligned(4), may_alias));
constexpr std::size_t kLaneCount = 8;
constexpr std::size_t kLeafChunk = 32;
constexpr std::size_t kSegmentLeaves = 16'384;
constexpr int kLateBits = 6;  // fewer signed terms than 2^6 are never late

// lane_masks[a | b << 3]: lanes that contain a and avoid b.
constexpr std::array<std::array<std::uint32_t, kLaneCount>, 64> make_lane_masks() {
  std::array<std::array<std::uint32_t, kLaneCount>, 64> masks{};
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      for (std::size_t lane = 0; lane < 8; ++lane) {
        masks[a | b << 3][lane] = (lane & a) == a && (lane & b) == 0 ? UINT32_MAX : 0;
      }
    }
  }
  return masks;
}
alignas(32) constexpr auto kLaneMasks = make_lane_masks();

// Binary digits read in base 3.
constexpr std::array<std::uint32_t, 64> make_base3() {
  std::array<std::uint32_t, 64> digits{};
  for (std::uint32_t value = 0; value < digits.size(); ++value) {
    std::uint32_t power = 1;
    for (std::uint32_t bit = 0; bit < 6; ++bit, power *= 3) {
      if ((value >> bit & 1) != 0) digits[value] += power;
    }
  }
  return digits;
}
constexpr auto kBase3 = make_base3();

// Where the bits of a byte are set.
constexpr std::array<std::array<std::uint8_t, 8>, 256> make_bit_places() {
  std::array<std::array<std::uint8_t, 8>, 256> places{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::size_t count = 0;
    for (std::uint8_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) places[byte][count++] = bit;
    }
  }
  return places;
}
constexpr auto kBitPlaces = make_bit_places();

#if defined(__x86_64__)
namespace baseline {
#include "game/tree_kernels.inc"
}
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt")
#define HIFI_WITH_AVX2  // __AVX2__ does not follow the pragma where preprocessing is a step of its own
namespace avx2 {
#include "game/tree_kernels.inc"
}
#undef HIFI_WITH_AVX2
#pragma GCC pop_options
#else
namespace baseline {
#include "game/tree_kernels.inc"
}
#endif

}  // namespace

LowKeys::LowKeys(const LatticeShape& shape) {
  const std::uint32_t count = 1U << (LatticeShape::kLaneBits + shape.ternary);
  // Twice: the bit of columns without a player may be set above the players'.
  for (std::uint32_t index = 0; index < 2 * count; ++index) {
    const std::uint32_t mask = index % count;
    const std::uint32_t ternary = kBase3[mask >> LatticeShape::kLaneBits] << 6;
    of_z.push_back(ternary | (mask & 7));
    of_x.push_back(2 * ternary | (mask & 7) << 3);
  }
}

PairSpace::PairSpace(const LatticeShape& shape)
    : margins(shape.cells() + kLaneCount),
      deposit(shape.pair_cells() - shape.cells() - kLaneCount),
      keys(shape) {}

const TreeKernels& baseline_tree_kernels() {
  static constexpr TreeKernels kernels{baseline::deposit, baseline::finish, baseline::add_loss,
                                       baseline::masks};
  return kernels;
}

const TreeKernels& tree_kernels() {
#if defined(__x86_64__)
  static constexpr TreeKernels wide{avx2::deposit, avx2::finish, avx2::add_loss, avx2::masks};
  static const bool supported =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (supported) return wide;
#endif
  return baseline_tree_kernels();
}

}  // namespace hifi
