// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011,
// doi 10.1145/2063384.2063405). A number is a pure function of (seed, purpose, index, position),
// so results cannot depend on threads, order or interruption.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace hifi {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// What a stream is for. The numbers are part of the results: never renumber.
enum class Purpose : std::uint32_t {
  instance_order = 1,
  background_order = 2,
  offsets = 3,
  marginals = 4,
  uniform_binary = 5,
  probe = 6,
  multipliers = 7,
  multiplier_scale = 8,
  search = 40,
  search_keys = 41,
  paper_policy = 42,
  planted_game = 43,
  planted_places = 44,
  planted_noise = 45,
  verify = 60,
  image_fills = 90,
  image_noise = 91,
  image_chains = 92,
  training_start = 61,
  training_order = 62,
  experiment_rows = 63,
  experiment_background = 64,
  radiographs = 80,
  radiograph_kinds = 81,
  rise_masks = 82,
  random_map = 83,
  ioi_prompts = 90,
  ioi_reference = 91,
  ioi_templates = 92,
};

// A cheap value type; two streams with the same key yield the same numbers.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t index = 0);

  std::uint64_t next_u64();
  // Uniform in [0, bound), without bias. REQUIRES: bound > 0
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double uniform();
  // Standard normal.
  double normal();
  // A random order of 0..size-1.
  std::vector<std::uint32_t> permutation(std::size_t size);

 private:
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
  double spare_ = 0;  // Box-Muller makes two at a time
  bool has_spare_ = false;
};

}  // namespace hifi
