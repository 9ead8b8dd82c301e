// Which coalitions, how many draws each, and what they cost in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "vocabulary/run_plan.h"

namespace hifi {

inline constexpr std::uint64_t kDefaultBudget = 4'000'000;
inline constexpr std::uint64_t kWholeLatticeBudget = 1'000'000'000;  // of engines that know whole lattices
inline constexpr std::size_t kMaxExactPlayers = 24;

struct Budget {
  std::size_t players = 0;
  std::uint64_t instances = 0;
  std::uint64_t background_rows = 0;
  bool exact = false;
  bool exhaustive = false;                     // asked for by name
  bool per_instance = false;                   // whole rounds, and a lattice of each instance is held
  std::uint64_t evaluations = kDefaultBudget;  // (coalition, draw) evaluations; ignored if exact
  std::uint64_t max_memory = 0;
  std::uint64_t table_bytes = 0;   // data and background as they are held
  std::uint64_t engine_bytes = 0;  // of a whole-lattice engine; 0: the row engine
};

struct DrawChoice {
  std::uint64_t draws = 0;  // per coalition
  std::size_t blocks = 0;   // per partition, at most
  std::uint64_t memory_bytes = 0;
  std::uint64_t run_file_bytes = 0;
};

// True if all coalitions are to be evaluated: 2^n x min(128, all pairs) fit the budget, or there are no more
// than the 64 that any statement needs.
bool enumerates(const Budget& budget);

// For a complete lattice. Throws Error(input) that names the evaluations and the memory that would be needed.
DrawChoice choose_draws(const Budget& budget);

// Rows of a run without a lattice: pairs that the search may use, and those of the report (all, if not
// split).
struct SearchPairs {
  std::uint64_t search = 0;
  std::uint64_t report = 0;
  bool split = false;
};

struct SearchChoice {
  SearchPlan search;
  std::uint64_t draws = 0;  // per reported coalition
  std::uint64_t memory_bytes = 0;
  std::uint64_t run_file_bytes = 0;
};

// Three quarters of the budget search, one quarter reports. Throws Error(input) that names the smallest
// budget, or the memory.
SearchChoice choose_search(const Budget& budget, const SearchPairs& pairs);
// With a profile of each instance: half of the budget searches and reports, half evaluates what was selected
// for each. Returns the draws of an instance. Throws Error(input) that names the smallest budget.
std::uint64_t choose_amortised(const Budget& budget, SearchChoice& choice);

// For the paper's policy. Throws Error(input) that names the smallest budget, or the memory.
PaperPlan choose_paper(const Budget& budget);
std::uint64_t paper_bytes(const Budget& budget, const PaperPlan& paper);

// "1.5 GB", "12 kB".
std::string human_bytes(std::uint64_t bytes);

}  // namespace hifi
