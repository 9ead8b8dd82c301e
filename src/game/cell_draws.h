// The draws of a run that evaluates single coalitions: few enough to be listed, all or a part of the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "game/draws.h"

namespace hifi {

// Rows that a part of a run may use, by position in the tables.
struct RowPart {
  std::vector<std::uint32_t> instances;
  std::vector<std::uint32_t> background;

  std::uint64_t pairs() const { return std::uint64_t{instances.size()} * background.size(); }
};

// Two parts that share no sampled row: contexts are chosen on the first and measured on the second. Clusters
// stay whole. A side with fewer than 40 rows (or clusters), and a background that is no sample, is in both
// parts.
std::array<RowPart, 2> split_rows(const DrawOptions& options, bool background_fixed);
// True if the parts differ at all.
bool is_split(const std::array<RowPart, 2>& parts);

struct CellDraws {
  std::vector<Draw> draws;                    // in work order
  std::vector<std::uint32_t> instance_block;  // of each draw
  std::size_t instance_blocks = 0;
  std::size_t background_blocks = 0;
  std::size_t round_blocks = 0;
  DrawPlan::Weights weights;
  bool all_pairs = false;     // of the part
  bool all_distinct = false;  // no row is in two draws
};

// `options.draws` draws of the part's rows. REQUIRES: draws <= part.pairs()
CellDraws make_cell_draws(const DrawOptions& options, const RowPart& part);

}  // namespace hifi
