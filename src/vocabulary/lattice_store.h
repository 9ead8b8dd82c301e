// A lattice in a run file: saved at checkpoints while it grows, read back to resume, merged from shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vocabulary/lattice.h"
#include "vocabulary/run_file.h"
#include "vocabulary/run_plan.h"

namespace hifi {

// What a run has at some moment: the tiles of the instance blocks before `block` are in the lattice; `tile`
// has the first `draws_done` draws of `block`.
struct LatticeState {
  Lattice lattice;
  BlockSums tile;
  std::size_t block = 0;
  std::uint64_t draws_done = 0;

  // The state before the first draw.
  static LatticeState start(const RunPlan& plan);
};

// Saves states of one run into its file. An undivided run keeps the lattice and the tile in work. A shard
// keeps the tiles of all of its blocks instead, because those of other shards must be added before and
// between them: it must save when a block has ended and its tile is still in the state.
class LatticeStore {
 public:
  LatticeStore(RunFile& file, const RunPlan& plan) : file_(file), plan_(plan) {}

  void save(const LatticeState& state);  // atomic
  LatticeState load();                   // the last saved state; the start if there is none
  // A run that looks again: the plan, which has changed, and the state it goes on from, in one piece.
  void start_look(const LatticeState& state);
  // A run that looks is complete when it says so.
  void finish_looks();

 private:
  RunFile& file_;
  const RunPlan& plan_;
  std::size_t saved_blocks_ = 0;  // instance blocks whose sums are in the file
};

// What the position says when a run without a lattice has ended.
inline constexpr const char* kDone = "done";

// The sums of a tile or a lattice under one name.
void put_sums(RunFile& file, const std::string& name, const BlockSums& sums);
void read_sums(const RunFile& file, const std::string& name, BlockSums& sums);

// The plan of a run file. Throws Error(input) if it is broken.
RunPlan read_plan(const RunFile& file);

// True if all draws of the plan (or of the shard) are in the file.
bool is_complete(const RunFile& file, const RunPlan& plan);

// The lattice of a complete, undivided run.
Lattice read_lattice(const RunFile& file, const RunPlan& plan);

// Adds up the shards of one run and writes an undivided run file. Throws Error(input) naming the parts that
// differ, are incomplete, missing or given twice; `out` is not created then.
void merge_runs(const std::vector<std::string>& parts, const std::string& out);

}  // namespace hifi
