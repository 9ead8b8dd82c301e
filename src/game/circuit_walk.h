// The depth-first walk of circuit_lattice.h: one thread's memory, and the steps from layer to layer.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "game/circuit_lattice.h"
#include "model/gpt2_kernels.h"

namespace hifi {

struct BaseRows {
  Buffer residual;  // after attention
  Buffer inner;     // the MLP's first product of it, before scale and bias
};

// What a walk keeps of a layer while it is below it.
struct LayerFrame {
  Buffer z;                  // of the states
  BaseRows bases;            // that children share
  Buffer switched_residual;  // what a switched head adds to the residual
  Buffer switched_inner;     // and to the first product
  Buffer out;                // the children in work
};

class CircuitLattice::Workspace {
 public:
  explicit Workspace(std::size_t layers) : frames(layers) {}

  Gpt2Scratch scratch;
  Readout::Scratch readout;
  Buffer x, z, base, change, norm, inner, query, keyed, mixed;
  BaseRows own;  // of children that are their own base
  std::vector<LayerFrame> frames;
  std::vector<double> losses;
};

class CircuitLattice::Walk {
 public:
  Walk(const CircuitLattice& lattice, const PromptGroup& group, const SortedCoalitions& coalitions,
       Workspace& workspace, const Sink& sink);

  // Coalitions that agree up to some layer: a stretch of their order.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // `x`: the residual of each state before `layer`.
  void go(std::size_t layer, std::span<const Range> states, const float* x);

 private:
  static constexpr std::uint32_t kItself = UINT32_MAX;
  struct Child {
    std::uint32_t state = 0;
    std::uint32_t base = 0;  // or kItself
    std::uint64_t absent = 0;
    Range range;
  };
  // What a child is switched from: its state with no head left out, or with all players of the layer if the
  // child leaves out most of them; itself if those are many switches with few siblings to share them. It
  // depends on the child alone, so that its losses do not depend on its siblings.
  struct Base {
    std::uint32_t state = 0;
    std::uint64_t absent = 0;
  };
  // Rows of one state that a step works on: all, or those that are read.
  struct Block {
    std::vector<std::uint32_t> rows;  // of the group; kNobody fills a tile
  };
  struct Fan {
    std::vector<Child> children;
    std::vector<Base> bases;
    std::vector<std::uint64_t> switched;  // of each state: heads in which a child differs from its base
  };
  using Next = std::function<void(std::span<const Child>, const float* out)>;

  std::optional<std::uint64_t> base_of(std::uint64_t absent, std::uint64_t players) const;
  Fan fan_out(std::size_t layer, std::span<const Range> states) const;
  std::size_t states_at_once(std::size_t layer, std::span<const Range> states) const;
  void middle_layer(std::size_t layer, std::span<const Range> states, const float* x);
  void last_layer(std::size_t layer, std::span<const Range> states, const float* x);
  void read_heads(std::size_t layer, std::size_t states, const float* x, float* read_x, float* z);
  void finish_layer(std::size_t layer, std::span<const Range> states, const Block& block, const float* x,
                    const float* z, const Next& next);
  const float* base_heads(std::size_t layer, std::span<const Base> bases, const Block& block, const float* z);
  void run_bases(std::size_t layer, std::span<const Base> bases, const Block& block, const float* x,
                 const float* z, BaseRows& out);
  void switch_heads(std::size_t layer, const Fan& fan, const Block& block, const float* z);
  void make_children(std::size_t layer, const Fan& fan, std::span<const Child> children, const Block& block);
  const float* replacement(std::size_t layer, std::uint32_t row) const;

  const CircuitLattice& lattice_;
  const Gpt2& model_;
  const PromptGroup& group_;
  const SortedCoalitions& coalitions_;
  Workspace& work_;
  const Sink& sink_;
  Block all_, read_;
  // Of each layer: where the rows of (state, head) begin in the switched buffers, in blocks.
  std::vector<std::vector<std::uint32_t>> switch_place_;
};

}  // namespace hifi
