// Trees of any owner but XGBoost, which has rounding of its own (xgboost_forest.h): splits of several kinds,
// leaves with values for one or several outputs, sums in single or double precision in the order of the
// trees.
//
// Once built it is immutable; predict() and decide() may be called from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/tree_ensemble.h"

namespace hifi {

// Of sums. Inputs are taken as they are, but for LightGBM, which drops those that are almost zero.
enum class Precision { single, twofold, twofold_tiny_is_zero };
enum class Aggregate { sum, least, greatest };

class Forest {
 public:
  // What sends a row to the left child.
  enum class Rule : std::uint8_t {
    at_most,  // value <= threshold
    equal,    // value == threshold
    in_bits,  // the integer part is in a set of bits; never a missing value
    among,    // the value is in a sorted list
  };
  // Where a missing value goes.
  enum class Missing : std::uint8_t {
    left,
    right,
    as_zero,    // as 0 would
    zero_left,  // left, and so does a zero
    zero_right,
  };

  struct Split {
    double threshold = 0;
    std::uint32_t column = 0;
    std::int32_t left = 0, right = 0;           // another split of the tree, or leaf k as -1 - k
    std::uint32_t set_first = 0, set_size = 0;  // in bits() or list()
    Rule rule = Rule::at_most;
    Missing missing = Missing::right;
  };
  struct LeafValue {
    std::uint32_t output;
    double value;
  };
  // As a file has it, not yet checked. Without splits it is leaf 0 alone.
  struct FileTree {
    std::vector<Split> splits;
    std::vector<std::vector<LeafValue>> leaves;
  };

  // `base`: what the sum of an output starts from.
  Forest(std::size_t width, std::vector<double> base, Precision precision,
         Aggregate aggregate = Aggregate::sum);

  // Sets of the splits that are added next; each returns where its members begin.
  std::uint32_t add_bits(std::span<const std::uint32_t> words);
  std::uint32_t add_list(std::vector<double> members);
  // Throws Error(input) that begins with `where`: a child, column or output that does not exist, a node with
  // two parents (so there are no cycles), a leaf that is not finite.
  void add_tree(FileTree tree, const std::string& where);

  std::size_t trees() const { return trees_.size(); }
  std::size_t width() const { return width_; }
  std::size_t outputs() const { return base_.size(); }
  Aggregate aggregate() const { return aggregate_; }

  // rows: count x width. sums: count x outputs.
  void predict(const double* rows, std::size_t count, double* sums) const;

  // As TreeEnsemble wants it: a tree for each output that a tree has values for. `share` scales the leaves.
  // REQUIRES: aggregate() == sum.
  Ensemble ensemble(double share = 1) const;
  // right[s * TreeEnsemble::kRows + r], splits counted as in ensemble().
  void decide(const double* rows, std::size_t count, std::uint8_t* right) const;

 private:
  struct Tree {
    std::size_t first_split, splits;
    std::size_t first_leaf, leaves;      // in leaf_begin_
    std::vector<std::uint32_t> outputs;  // those it has values for, in their order
    bool simple;                         // every rule is at_most, no zero is special
    unsigned depth;
  };
  static constexpr std::size_t kLanes = 8;

  bool goes_left(const Split& split, double value) const;
  double rounded(double value) const;
  double input(double value) const;
  std::size_t leaf_of(const Tree& tree, const double* row) const;
  void leaves_of(const Tree& tree, const double* rows, std::size_t count, std::uint32_t* leaves) const;
  void add_leaf(std::size_t leaf, double* sums, std::uint8_t* seen) const;

  std::size_t width_;
  std::vector<double> base_;
  Precision precision_;
  Aggregate aggregate_;
  std::vector<Tree> trees_;
  std::vector<Split> splits_;
  std::vector<std::size_t> leaf_begin_;  // of each leaf in leaf_values_, and the end of the last
  std::vector<LeafValue> leaf_values_;
  std::vector<std::uint32_t> bits_;
  std::vector<double> list_;
};

}  // namespace hifi
