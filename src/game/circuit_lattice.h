// Many coalitions of heads on the same prompts, each layer once per distinct beginning.
//
// Coalitions are sorted by the first layer in which they differ (SortedCoalitions) and walked depth first.
// Where a state goes on as several coalitions that differ in heads of one layer, these *children* share the
// attention and the products of one *base*, with no or all players of the layer left out:
//   - a switched head adds +-(r - z) Wo to the residual, r its replacement: a product of rank head width;
//   - the MLP is linear up to its nonlinearity, so what it adds before the scale of LayerNorm is
//     +-(r - z) (Wo centred, times gain, W1), a product of the same rank with a matrix made once per head.
//     Only the scale, the nonlinearity and the second product run per child.
// The last layer computes the read positions alone, and their scores without keys: (Wk q) . x for each x;
// values likewise, Wv (sum of weights x). Biases of keys cancel in the softmax. Rows are rounded by their
// half of a tile alone (core/gemm.h, model/token_rows.h): a loss does not depend on the coalitions and
// prompts that it was computed with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "game/circuit_ablation.h"
#include "game/circuit_players.h"
#include "game/circuit_readout.h"
#include "model/gpt2_forward.h"

namespace hifi {

// Rows of switched heads that a walk keeps per layer, in chunks.
inline constexpr std::size_t kSwitchedChunks = 4;
// Players up to which coalitions are enumerated, so that a state has many children to share its switched
// heads.
inline constexpr std::size_t kEnumerable = 24;
// Of more players few sets share a state, and most heads of a layer are not worth switching for one child.
inline constexpr std::size_t kFewSwitched = 2;
// Chunks that go into the last layer together: it computes few rows of each state.
inline constexpr std::size_t kLastChunks = 4;

// Prompts that are computed together, and where they are read.
struct PromptGroup {
  TokenRows rows;
  std::vector<std::uint32_t> read_rows;     // row of each read slot; whole tiles, kNobody fills them
  std::vector<std::uint32_t> read_prompts;  // prompt of the task
  std::vector<std::uint32_t> read_draws;    // where its loss belongs
  std::vector<float> root;                  // the residual before the first layer with a player
};

struct GroupDraw {
  std::uint32_t prompt = 0;
  std::uint32_t source = 0;
  std::uint32_t draw = 0;
};
// `share`: rows of equal beginnings are one.
PromptGroup make_group(const PromptTask& task, std::span<const GroupDraw> draws, bool share);

class CircuitLattice {
 public:
  CircuitLattice(const Gpt2& model, const CircuitPlayers& players, const Replacements& replacements,
                 const Readout& readout, std::size_t chunk_rows, Workers& workers);
  ~CircuitLattice();

  class Workspace;
  std::unique_ptr<Workspace> make_workspace() const;
  // What a workspace takes at most, for groups and chunks of so many rows.
  static std::uint64_t workspace_bytes(const Gpt2& model, const CircuitPlayers& players,
                                       std::size_t group_rows, std::size_t chunk_rows);
  // Of the matrices made for switched heads.
  static std::uint64_t bytes(const Gpt2& model, const CircuitPlayers& players);

  // Fills group.root.
  void run_root(PromptGroup& group, Workspace& workspace) const;

  // sink(position in the list, draw, loss) for coalitions [begin, end) of the order and all draws of the
  // group.
  using Sink = std::function<void(std::uint32_t coalition, std::uint32_t draw, double loss)>;
  void run(const PromptGroup& group, const SortedCoalitions& coalitions, std::size_t begin, std::size_t end,
           Workspace& workspace, const Sink& sink) const;

  // The same by a plain forward pass per coalition: the oracle, and what the lattice is measured against.
  void run_plainly(const PromptGroup& group, const SortedCoalitions& coalitions, std::size_t begin,
                   std::size_t end, Workspace& workspace, const Sink& sink) const;

 private:
  class Walk;
  const float* switch_weights(std::size_t layer, std::size_t head) const;

  const Gpt2& model_;
  const Replacements& replacements_;
  const Readout& readout_;
  std::size_t chunk_rows_;
  std::size_t root_layer_;
  bool enumerable_;
  std::vector<std::uint64_t> player_heads_;         // of each layer
  std::vector<std::vector<float>> inner_bias_;      // of each layer, that of the norm included
  std::vector<std::vector<float>> switch_weights_;  // by layer x head; empty for heads that are no players
};

}  // namespace hifi
