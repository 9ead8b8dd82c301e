// A tree ensemble compiled for a set of players: leaves in fixed point, a bit per player, and which bit a
// split asks for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "game/tree_kernels.h"
#include "loss/loss.h"
#include "masking/players.h"
#include "model/model.h"
#include "model/tree_ensemble.h"

namespace hifi {

struct TreeLayout {
  struct Output {
    std::size_t begin = 0, end = 0;  // leaves, in chunks of 32
    double base = 0;
    double scale = 1;  // leaf = integer * scale, a power of two
  };

  const TreeEnsemble* trees = nullptr;
  Ensemble ensemble;
  LatticeShape shape;
  std::vector<std::uint32_t> player_of_bit;
  unsigned mask_bytes = 1;
  std::vector<std::uint32_t> values;  // of leaves
  std::vector<Output> outputs;
  std::vector<MaskTree> mask_trees;
  // Of every split, in the order of TreeEnsemble::decide. A column that no player owns always comes from the
  // instance: where the instance leaves the path the leaf is out of reach, which a bit of its own says that
  // is set in every mask of the background.
  std::vector<std::uint32_t> instance_bits, background_bits;
  std::uint32_t background_root = 0;

  std::size_t leaves() const { return values.size(); }
  std::size_t row_bytes() const { return leaves() * mask_bytes; }
};

// Where the engine keeps coalition m of the lattice: low[m % kCells] | high[m / kCells].
struct LatticePlaces {
  static constexpr std::size_t kCells = 4096;
  LatticePlaces(const TreeLayout& layout, std::size_t players);
  std::vector<std::uint32_t> low, high;
};

// Absent if the model is no tree ensemble, or if a margin could give a prediction that the loss must refuse.
std::unique_ptr<TreeLayout> make_tree_layout(const Model& model, const Loss& loss, const Players& players);

}  // namespace hifi
