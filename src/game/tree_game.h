// The table game of a tree ensemble: `accumulate` computes whole lattices, a pair of rows at a time, without
// walking a tree (tree_kernels.h says how). `losses` stays the row engine, which is its judge in the tests.
//
// Pairs go in groups of one block. A group's losses are added as floats in the order of its pairs, groups
// are added to the double sums in their order: any number of threads gives the same bits.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "game/table_game.h"
#include "game/tree_layout.h"
#include "game/tree_masks.h"

namespace hifi {

// What the engine keeps in memory: groups in work at once, and rows whose masks are kept.
struct TreeRoom {
  std::size_t groups = 0;
  std::size_t instance_rows = 0;
  std::size_t background_rows = 0;
  std::uint64_t bytes = 0;
};

// As much as is of use within `limit`. If the least is more than that, the least.
TreeRoom tree_room(const TreeLayout& layout, std::size_t instances, std::size_t background_rows,
                   std::size_t threads, std::uint64_t limit);

class TreeGame : public TableGame {
 public:
  // All references must outlive the game. Memory is taken by the first accumulate(): tree_room() says how
  // much of `memory`.
  TreeGame(std::unique_ptr<TreeLayout> layout, std::uint64_t memory, const Model& model, const Loss& loss,
           const Players& players, const Frame& instances, const std::vector<double>& truth,
           const Frame& background, std::size_t batch_rows);
  ~TreeGame() override;

  void accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) override;
  std::uint64_t unit_draws() const override;

 private:
  struct Slot;   // room for one group
  struct Group;  // draws of one block
  using BlockOf = std::uint32_t Draw::*;

  void add_pass(std::span<const Draw> draws, BlockOf block, std::vector<std::vector<double>>& sums,
                std::vector<double>* squares, Workers& workers);
  void take_room(std::size_t threads);
  void prepare(std::span<const Group> groups, Workers& workers);
  std::size_t stretch(std::span<const Group> groups) const;
  void run(const Group& group, bool squares, Slot& slot) const;
  void add_pair(const Draw& draw, bool squares, Slot& slot) const;
  void add_generic(std::size_t first, std::size_t count, double truth, float* sums, float* squares,
                   Slot& slot) const;
  void flush(std::span<const Group> groups, std::vector<std::vector<double>>& sums,
             std::vector<double>* squares, Workers& workers) const;

  std::unique_ptr<TreeLayout> layout_;
  std::uint64_t memory_;
  const Loss& loss_;
  const Frame& instances_;
  const std::vector<double>& truth_;
  const Frame& background_;
  std::optional<LossKernel> kernel_;
  std::optional<TreeMasks> instance_masks_;
  std::optional<TreeMasks> background_masks_;
  std::vector<std::unique_ptr<Slot>> slots_;
  LatticePlaces places_;
};

}  // namespace hifi
