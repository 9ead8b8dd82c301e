// The loss of the mean prediction over the background, for tree ensembles: `accumulate` computes whole
// lattices, an instance at a time.
//
// Where the prediction is a sum of leaves, its mean needs no background row at all, only counts per leaf
// (leaf_background.h). Through a link the predictions of every row are computed and averaged.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "game/expected_game.h"
#include "game/leaf_background.h"
#include "game/tree_layout.h"

namespace hifi {

class ExpectedTreeGame : public ExpectedGame {
 public:
  // True if the mean prediction is linear in the leaves: all background rows then cost what one costs.
  static bool linear(const TreeLayout& layout, const Loss& loss);
  // The least that the first accumulate() takes, for so many background rows.
  static std::uint64_t bytes(const TreeLayout& layout, const Loss& loss, std::size_t rows);

  // References in `parts` must outlive the game.
  ExpectedTreeGame(std::unique_ptr<TreeLayout> layout, std::uint64_t memory, const Parts& parts,
                   std::vector<std::uint32_t> rows, std::size_t batch_rows);
  ~ExpectedTreeGame() override;

  void accumulate(std::span<const Draw> draws, BlockSums& sums, Workers& workers) override;
  std::uint64_t unit_draws() const override;

 private:
  struct Slot;  // room for one instance

  void take_room(Workers& workers);
  void average_leaves(const std::uint8_t* x, Slot& slot) const;
  void average_rows(const std::uint8_t* x, Slot& slot) const;
  void add_row(const std::uint8_t* x, const std::uint8_t* z, Slot& slot) const;
  void run(const Draw& draw, Slot& slot) const;
  void flush(std::span<const Draw> draws, BlockSums& sums, Workers& workers) const;

  std::unique_ptr<TreeLayout> layout_;
  std::uint64_t memory_;
  bool linear_;
  LatticePlaces places_;
  std::optional<LeafBackground> leaves_;
  std::optional<TreeMasks> instance_masks_;
  std::optional<TreeMasks> background_masks_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace hifi
