// How many draws per coalition, and what they cost in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hifi {

inline constexpr std::uint64_t kDefaultBudget = 4'000'000;
inline constexpr std::size_t kMaxExactPlayers = 24;

struct Budget {
  std::size_t players = 0;
  std::uint64_t instances = 0;
  std::uint64_t background_rows = 0;
  bool exact = false;
  std::uint64_t evaluations = kDefaultBudget;  // (coalition, draw) evaluations; ignored if exact
  std::uint64_t max_memory = 0;
  std::uint64_t table_bytes = 0;  // data and background as they are held
};

struct DrawChoice {
  std::uint64_t draws = 0;  // per coalition
  std::size_t blocks = 0;   // per partition, at most
  std::uint64_t memory_bytes = 0;
  std::uint64_t run_file_bytes = 0;
};

// For a complete lattice. Throws Error(input) that names the evaluations and the memory that would be needed.
DrawChoice choose_draws(const Budget& budget);

// "1.5 GB", "12 kB".
std::string human_bytes(std::uint64_t bytes);

}  // namespace hifi
