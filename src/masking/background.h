// What an absent column is replaced by.
//
// The choice defines the estimand, so it is named, counted, hashed and stored with every result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "masking/frame.h"
#include "masking/players.h"

namespace hifi {

struct Background {
  std::string spec;         // as the user gave it: a path, `data`, `uniform-binary`, ..
  std::string description;  // for people
  Frame frame;
  std::string hash;
  bool is_data = false;  // row z of the background is row z of the data
  bool fixed = false;    // known, not sampled: mean, row:K, the enumerated {0,1}^n
  bool product = false;  // marginals: the frame is a sample of a product that cannot be enumerated
};

// True if `spec` is none of `data`, `uniform-binary`, `marginals`, `mean`, `row:K`, but the path of a table.
bool is_background_table(const std::string& spec);

// `table` is the table that `spec` names, if it names one. Throws Error(input): an unknown column, row:K
// out of range, a column that has no mean, values that are not 0/1 under uniform-binary, too many rows to
// enumerate.
Background make_background(const std::string& spec, const std::optional<Table>& table, const Frame& data,
                           const InputColumns& columns, const Players& players, bool exact,
                           std::uint64_t seed);

}  // namespace hifi
