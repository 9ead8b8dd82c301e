// The cells of a run without a lattice: coalitions in the order of evaluation, each with a row of numbers.
// Kept in memory and, if there is a run file, in it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hifi/coalition.h"
#include "vocabulary/lattice.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

class CellStore {
 public:
  static constexpr std::size_t kAbsent = SIZE_MAX;

  // Reads what the file has of this phase. `file` may be null.
  CellStore(RunFile* file, std::size_t phase, std::size_t players, std::size_t width);

  std::size_t size() const { return coalitions_.size(); }
  std::size_t width() const { return width_; }
  const std::vector<Coalition>& coalitions() const { return coalitions_; }
  std::span<const double> values(std::size_t position) const {
    return std::span(values_).subspan(position * width_, width_);
  }
  std::size_t find(const Coalition& coalition) const;

  // REQUIRES: the coalition is new
  void add(const Coalition& coalition, std::span<const double> values);
  // Writes what the file lacks: now, or when a second has passed since the last time.
  void save();
  void save_if_due();

 private:
  using Clock = std::chrono::steady_clock;
  RunFile* file_;
  std::size_t phase_;
  std::size_t width_;
  std::size_t saved_ = 0;
  Clock::time_point last_ = Clock::now();
  std::vector<Coalition> coalitions_;
  std::vector<double> values_;
  std::unordered_map<Coalition, std::size_t, CoalitionHash> find_;
};

// Cells of the search, and those measured again.
inline constexpr std::size_t kSearchPhase = 0;
inline constexpr std::size_t kReportPhase = 1;
inline constexpr std::size_t kInstancePhase = 16;  // and those behind it: one per instance

// A cell of a split search needs its mean alone.
std::size_t search_width(const RunPlan& plan);

// A cell with blocks: sums by instance block, by background block, by round block, then of squares.
std::size_t cell_width(const RunPlan& plan);
// The cells as a lattice of as many coalitions.
Lattice lattice_of(const CellStore& cells, const RunPlan& plan);

// Copies the cells of the shards of a searched run, in the order of an undivided one: all have the whole
// search and took turns in the report. REQUIRES: parts are complete and in order
void merge_cells(const std::vector<std::string>& parts, const RunPlan& plan, RunFile& out);

// Copies the images of the shards of a run of images. REQUIRES: parts are complete and in order
void merge_images(const std::vector<std::string>& parts, const std::vector<RunPlan>& plans, RunFile& out);
// The text of an image in the run file.
std::string image_key(std::size_t image);

}  // namespace hifi
