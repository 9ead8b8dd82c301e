// Heads of a transformer as players: an absent head's z is replaced, and the prompt's loss is read at its
// end.
//
// A draw is a prompt; under resample ablation a prompt and a reference prompt, whose z all absent heads take.
// Heads that are no players stay intact. Engine: circuit_lattice.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "game/circuit_lattice.h"
#include "game/game.h"

namespace hifi {

struct CircuitOptions {
  Ablation ablation = Ablation::mean;
  Measure measure = Measure::logit_difference;
  bool freeze_norm = false;
  bool plainly = false;       // a forward pass per coalition
  bool share_prompts = true;  // rows of prompts that begin alike
  std::uint64_t max_memory = std::uint64_t{4} << 30;
};

class CircuitGame : public Game {
 public:
  // Runs the reference prompts. Throws Error(input) where task, players and options do not fit, or where the
  // memory does not suffice.
  CircuitGame(const Gpt2& model, PromptTask task, CircuitPlayers players, const CircuitOptions& options,
              Workers& workers);
  ~CircuitGame() override;

  std::size_t players() const override { return players_.size(); }
  void losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
              Workers& workers) override;
  // The whole lattice of a draw at once: cut into stretches of masks, it would share less.
  void accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) override;
  std::uint64_t unit_draws() const override;
  std::uint64_t unit_evaluations() const override;
  std::size_t lookahead() const override;
  void expect(std::span<const Draw> draws) override { expected_.assign(draws.begin(), draws.end()); }

  std::size_t background_rows() const { return replacements_.sources(); }
  // Threads that run at a time, as far as `room` bytes go beyond what one needs; returns what they take of
  // it. Results do not depend on it.
  std::uint64_t use_room(std::uint64_t room, std::size_t threads);
  // What one thread needs beside the weights: replacements, switched heads, a workspace.
  std::uint64_t bytes() const { return memory_.held + memory_.workspace; }
  // Beside that while whole lattices are run: those computed ahead, and their order.
  std::uint64_t lattice_bytes() const;

  bool mean_by_position() const { return replacements_.by_position(); }
  // Work of a whole lattice against a forward pass per coalition, by counting distinct beginnings.
  double lattice_share() const;

 private:
  class Lease;
  struct Memory {
    std::size_t rows = 0;  // that go through a product together
    std::uint64_t held = 0;
    std::uint64_t workspace = 0;
  };
  Memory plan_memory() const;
  std::vector<PromptGroup> make_groups(std::span<const Draw> draws) const;

  const Gpt2& model_;
  PromptTask task_;
  CircuitPlayers players_;
  CircuitOptions options_;
  Memory memory_;  // planned before anything is allocated
  Replacements replacements_;
  Readout readout_;
  CircuitLattice lattice_;
  std::size_t workspaces_ = 1;  // at most at a time
  struct Pool;
  std::unique_ptr<Pool> pool_;
  std::vector<Draw> expected_;
  // Lattices by prompt and source: an array of several, and where this one begins.
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::pair<std::shared_ptr<std::vector<double>>, std::size_t>>
      ahead_;
};

}  // namespace hifi
