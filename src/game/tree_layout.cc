#include "game/tree_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hifi {

namespace {

constexpr std::size_t kLeafChunk = 32;
constexpr std::size_t kMaxPlayers = 24;
constexpr std::uint32_t kNoPlayer = UINT32_MAX;

// How many players have three cells each. Measured: more cost more memory than they save in signed terms.
unsigned ternary_players(unsigned bits) {
  if (bits <= 9) return bits - LatticeShape::kLaneBits;
  return bits <= 13 ? 3 : 0;
}

std::vector<std::uint32_t> player_of_column(const Players& players, std::size_t width) {
  std::vector<std::uint32_t> owner(width, kNoPlayer);
  for (std::size_t i = 0; i < players.size(); ++i) {
    for (const std::uint32_t c : players.columns[i]) owner[c] = static_cast<std::uint32_t>(i);
  }
  return owner;
}

// In how many leaves' paths each player occurs, counted once per split above the leaf.
std::vector<std::uint64_t> count_usage(const Ensemble& ensemble, const std::vector<std::uint32_t>& owner,
                                       std::size_t players) {
  std::vector<std::uint64_t> usage(players);
  for (const EnsembleTree& tree : ensemble.trees) {
    std::vector<std::uint64_t> below(tree.splits.size());
    for (std::size_t s = tree.splits.size(); s-- > 0;) {
      for (const std::int32_t child : {tree.splits[s].left, tree.splits[s].right}) {
        below[s] += child < 0 ? 1 : below[static_cast<std::size_t>(child)];
      }
      const std::uint32_t player = owner[tree.splits[s].column];
      if (player != kNoPlayer) usage[player] += below[s];
    }
  }
  return usage;
}

// The largest sum of leaves, by absolute value, that an output could have.
std::vector<double> largest_sums(const Ensemble& ensemble) {
  std::vector<double> sums(ensemble.base.size());
  for (const EnsembleTree& tree : ensemble.trees) {
    double largest = 0;
    for (const double leaf : tree.leaves) largest = std::max(largest, std::abs(leaf));
    sums[tree.output] += largest;
  }
  return sums;
}

// 2^30 integers on either side of 0: sums stay below 2^31 although every leaf is rounded.
double fixed_point_scale(double largest) {
  constexpr int kBits = 30;
  constexpr int kSmallest = -100;  // stays a normal float
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, std::max(exponent - kBits, kSmallest));
}

bool gives_probabilities(const Ensemble& ensemble, const Loss& loss) {
  return !is_classification(loss.kind()) || !ensemble.identity || loss.link() != Link::none;
}

// Overflow shows at an end of the range of margins, if anywhere.
bool always_finite(const TreeEnsemble& trees, const Ensemble& ensemble, const std::vector<double>& sums) {
  const std::size_t outputs = ensemble.base.size();
  std::vector<double> margins(outputs);
  std::vector<double> predictions(outputs);
  for (const double sign : {-1.0, 1.0}) {
    for (std::size_t g = 0; g < outputs; ++g) margins[g] = ensemble.base[g] + sign * sums[g];
    trees.transform(margins, 1, predictions);
    for (const double p : predictions) {
      if (!std::isfinite(p)) return false;
    }
  }
  return true;
}

// Leaves go output by output, each output filled up to whole chunks.
void place_leaves(TreeLayout& layout, const std::vector<double>& sums) {
  layout.outputs.resize(layout.ensemble.base.size());
  layout.mask_trees.resize(layout.ensemble.trees.size());
  for (std::size_t g = 0; g < layout.outputs.size(); ++g) {
    TreeLayout::Output& output = layout.outputs[g];
    output = {
        .begin = layout.values.size(), .base = layout.ensemble.base[g], .scale = fixed_point_scale(sums[g])};
    for (std::size_t t = 0; t < layout.ensemble.trees.size(); ++t) {
      const EnsembleTree& tree = layout.ensemble.trees[t];
      if (tree.output != g) continue;
      layout.mask_trees[t] = {tree.splits, tree.leaves.size(), layout.values.size()};
      for (const double leaf : tree.leaves) {
        layout.values.push_back(static_cast<std::uint32_t>(std::llrint(leaf / output.scale)));
      }
    }
    layout.values.resize((layout.values.size() + kLeafChunk - 1) / kLeafChunk * kLeafChunk);
    output.end = layout.values.size();
  }
}

}  // namespace

LatticePlaces::LatticePlaces(const TreeLayout& layout, std::size_t players) {
  const auto place = [&](std::size_t mask) {
    std::uint32_t cell = 0;
    for (std::uint32_t k = 0; k < players; ++k) {
      if ((mask >> layout.player_of_bit[k] & 1U) != 0) cell |= std::uint32_t{1} << k;
    }
    return cell;
  };
  const std::size_t lattice = std::size_t{1} << players;
  for (std::size_t m = 0; m < std::min(lattice, kCells); ++m) low.push_back(place(m));
  for (std::size_t m = 0; m < lattice; m += kCells) high.push_back(place(m));
}

std::unique_ptr<TreeLayout> make_tree_layout(const Model& model, const Loss& loss, const Players& players) {
  const auto* trees = dynamic_cast<const TreeEnsemble*>(&model);
  if (trees == nullptr || players.size() > kMaxPlayers) return nullptr;
  auto layout = std::make_unique<TreeLayout>();
  layout->trees = trees;
  layout->ensemble = trees->ensemble();
  const std::vector<double> sums = largest_sums(layout->ensemble);
  if (!gives_probabilities(layout->ensemble, loss) || !always_finite(*trees, layout->ensemble, sums)) {
    return nullptr;
  }
  const auto n = static_cast<unsigned>(players.size());
  layout->shape.bits = std::max(n, LatticeShape::kLaneBits);
  layout->shape.ternary = ternary_players(layout->shape.bits);

  // The players that most paths ask for get the lowest bits, which are cheapest.
  const auto owner = player_of_column(players, model.info().width);
  const auto usage = count_usage(layout->ensemble, owner, n);
  layout->player_of_bit.resize(n);
  std::iota(layout->player_of_bit.begin(), layout->player_of_bit.end(), 0U);
  std::stable_sort(layout->player_of_bit.begin(), layout->player_of_bit.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return usage[a] > usage[b]; });
  std::vector<std::uint32_t> bit_of_player(n);
  for (std::uint32_t k = 0; k < n; ++k) bit_of_player[layout->player_of_bit[k]] = std::uint32_t{1} << k;

  const std::uint32_t fixed = std::uint32_t{1} << layout->shape.bits;
  for (const EnsembleTree& tree : layout->ensemble.trees) {
    for (const EnsembleTree::Split& split : tree.splits) {
      const std::uint32_t player = owner[split.column];
      const bool owned = player != kNoPlayer;
      if (!owned) layout->background_root = fixed;
      layout->instance_bits.push_back(owned ? bit_of_player[player] : fixed);
      layout->background_bits.push_back(owned ? bit_of_player[player] : 0);
    }
  }
  const unsigned used = layout->shape.bits + (layout->background_root != 0 ? 1 : 0);
  layout->mask_bytes = used <= 8 ? 1 : used <= 16 ? 2 : 4;
  place_leaves(*layout, sums);
  return layout;
}

}  // namespace hifi
