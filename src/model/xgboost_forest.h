// A sum of trees, laid out for prediction and computed with the rounding of XGBoost's CPU predictor:
// inputs and thresholds are floats, a row starts from the base margin and adds one leaf per tree, as
// floats, in the order of the file. Verified to the bit against versions 1.7, 2.1, 3.0 and 3.2.
//
// Once built it is immutable; predict_block() may be called from several threads, each with its Scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/tree_ensemble.h"

namespace hifi::xgboost {

// The arrays of one tree as the file has them, not yet checked.
struct FileTree {
  std::span<const double> left, right, feature, threshold, default_left, split_type;
  std::span<const double> categories, category_nodes, category_segments, category_sizes;
};

class Forest {
 public:
  static constexpr std::size_t kBlockRows = 64;

  struct Scratch {
    std::vector<float> inputs;   // used column x row
    std::vector<float> margins;  // group x row
  };

  // One group per output; a group's margin starts from its base margin.
  Forest(std::size_t width, std::vector<float> base_margins);

  // REQUIRES: group < number of base margins. Throws Error(input) that begins with `where`.
  void add_tree(const FileTree& tree, std::size_t group, float weight, const std::string& where);

  Scratch make_scratch() const;
  // REQUIRES: count <= kBlockRows. The margin of row r in group g is margins[g * kBlockRows + r].
  void predict_block(const double* rows, std::size_t count, Scratch& scratch) const;

  // The trees and base margins as TreeEnsemble gives them; `decide` is its function of the same name.
  Ensemble ensemble() const;
  void decide(const double* rows, std::size_t count, Scratch& scratch, std::uint8_t* right) const;

 private:
  // A leaf points to itself: no input is below NaN, and left + 1 is the leaf. So rows of one block can
  // walk side by side for as many steps as the tree is deep, without a branch that could be mispredicted.
  struct Node {
    float threshold;
    std::uint32_t input;  // first element of the column in Scratch::inputs, plus kDefaultLeft
    std::uint32_t left;   // within the tree; the right child follows
    float value;          // leaves
  };

  struct Tree {
    std::size_t first;  // in nodes_
    std::size_t group;
    unsigned depth;
    bool categorical;
    std::size_t first_set;  // categorical trees: in set_of_node_
  };

  struct CategorySet {
    std::size_t first_word;
    std::size_t words;
  };

  static constexpr std::uint32_t kDefaultLeft = 1;  // fits beside a multiple of kBlockRows
  static constexpr std::uint32_t kInputMask = ~std::uint32_t{kBlockRows - 1};

  std::uint32_t input_of(std::size_t column);
  Node make_node(const FileTree& tree, std::size_t file_node, float weight, const std::string& where);
  std::vector<std::uint32_t> add_category_sets(const FileTree& tree, const std::string& where);
  bool fill_inputs(const double* rows, std::size_t count, Scratch& scratch) const;
  template <bool kMissing>
  void walk(const Tree& tree, std::size_t count, const float* inputs, float* margins) const;
  void walk_categorical(const Tree& tree, std::size_t count, const float* inputs, float* margins) const;
  bool goes_right(const CategorySet& set, float category) const;
  std::size_t node_count(std::size_t tree) const;
  static bool leaf_at(const Node* nodes, std::size_t node) { return nodes[node].left + 1 == node; }
  void decide_node(const Tree& tree, std::size_t node, const float* inputs, std::uint8_t* right) const;

  std::size_t width_;
  std::vector<float> base_margins_;
  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  std::vector<std::size_t> used_;  // columns that some split reads
  std::unordered_map<std::size_t, std::uint32_t> input_of_column_;
  std::vector<std::uint32_t> set_of_node_;  // kNoSet for numeric splits and leaves
  std::vector<CategorySet> sets_;
  std::vector<std::uint32_t> category_words_;
};

}  // namespace hifi::xgboost
