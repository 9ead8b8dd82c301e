// The vocabulary of the paper's policy: every visit of a coalition is a range of draws of its own.
// Differences between coalitions are taken on the ranges that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hifi/coalition.h"
#include "vocabulary/run_file.h"

namespace hifi {

inline constexpr std::uint32_t kNoPlayer = UINT32_MAX;

struct Visit {
  Coalition coalition;
  std::uint64_t range = 0;
  // A visit that serves one pair alone, on draws that the other corners of its diamond do not share.
  std::uint32_t first = kNoPlayer;
  std::uint32_t second = kNoPlayer;
  std::vector<double> slices;  // mean losses of equal parts of the range

  bool is_side() const { return first != kNoPlayer; }
};

// Visits in the order in which they were made, also in the run file if there is one.
class VisitStore {
 public:
  // `file` may be null. Reads what the file has.
  VisitStore(RunFile* file, std::size_t players, std::size_t slices);

  const std::vector<Visit>& visits() const { return visits_; }
  std::string path() const { return file_ == nullptr ? "memory" : file_->path(); }
  void add(Visit visit) { visits_.push_back(std::move(visit)); }
  // Writes what the file lacks, in one piece with `more`.
  void save(const std::function<void()>& more = [] {});

 private:
  RunFile* file_;
  std::size_t saved_ = 0;
  std::vector<Visit> visits_;
};

}  // namespace hifi
