// The forest as a TreeEnsemble: its trees, and what rows decide at every split.
#include <cmath>

#include "model/xgboost_forest.h"

namespace hifi::xgboost {

std::size_t Forest::node_count(std::size_t tree) const {
  const std::size_t end = tree + 1 < trees_.size() ? trees_[tree + 1].first : nodes_.size();
  return end - trees_[tree].first;
}

Ensemble Forest::ensemble() const {
  Ensemble result;
  result.base.assign(base_margins_.begin(), base_margins_.end());
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const Node* nodes = nodes_.data() + trees_[t].first;
    const std::size_t count = node_count(t);
    EnsembleTree tree{.output = trees_[t].group};
    // Splits and leaves are numbered apart, both in the order of the nodes.
    std::vector<std::int32_t> number(count);
    std::int32_t splits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (leaf_at(nodes, i)) {
        tree.leaves.push_back(static_cast<double>(nodes[i].value));
        number[i] = -static_cast<std::int32_t>(tree.leaves.size());
      } else {
        number[i] = splits++;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (leaf_at(nodes, i)) continue;
      const std::size_t column = used_[(nodes[i].input & kInputMask) / kBlockRows];
      tree.splits.push_back({.column = static_cast<std::uint32_t>(column),
                             .left = number[nodes[i].left],
                             .right = number[nodes[i].left + 1]});
    }
    result.trees.push_back(std::move(tree));
  }
  return result;
}

void Forest::decide(const double* rows, std::size_t count, Scratch& scratch, std::uint8_t* right) const {
  constexpr std::size_t kRows = TreeEnsemble::kRows;
  fill_inputs(rows, count, scratch);
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const Node* nodes = nodes_.data() + trees_[t].first;
    const std::size_t nodes_of_tree = node_count(t);
    for (std::size_t i = 0; i < nodes_of_tree; ++i) {
      if (leaf_at(nodes, i)) continue;
      decide_node(trees_[t], i, scratch.inputs.data(), right);
      right += kRows;
    }
  }
}

void Forest::decide_node(const Tree& tree, std::size_t node, const float* inputs, std::uint8_t* right) const {
  constexpr std::size_t kRows = TreeEnsemble::kRows;
  const Node& split = nodes_[tree.first + node];
  const float* input = inputs + (split.input & kInputMask);
  const bool missing_right = (split.input & kDefaultLeft) == 0;
  const std::uint32_t set = tree.categorical ? set_of_node_[tree.first_set + node] : UINT32_MAX;
  if (set != UINT32_MAX) {
    for (std::size_t r = 0; r < kRows; ++r) {
      right[r] = std::isnan(input[r]) ? missing_right : goes_right(sets_[set], input[r]);
    }
    return;
  }
  // No branch on missing values: below the threshold is left, NaN is neither below nor not below.
  const float threshold = split.threshold;
  if (missing_right) {
    for (std::size_t r = 0; r < kRows; ++r) right[r] = !(input[r] < threshold);
  } else {
    for (std::size_t r = 0; r < kRows; ++r) right[r] = input[r] >= threshold;
  }
}

}  // namespace hifi::xgboost
