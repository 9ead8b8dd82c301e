// A tree model seen from inside, for engines that compute many predictions at once: a sum of leaves per
// output, and what a row decides at every split.
//
// A model that is a sum of trees implements it beside `Model`. All numbers are those of the plain walk:
// missing values, categories and the owner's rounding of inputs are settled in `decide`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hifi {

struct EnsembleTree {
  struct Split {
    std::uint32_t column;
    std::int32_t left, right;  // a later split of this tree, or leaf k as -1 - k
  };
  std::vector<Split> splits;  // the root first; empty: leaf 0 alone
  std::vector<double> leaves;
  std::size_t output = 0;
};

struct Ensemble {
  std::vector<EnsembleTree> trees;
  std::vector<double> base;  // per output: what the sum of leaves starts from
  bool identity = false;     // the prediction is the sum itself
};

class TreeEnsemble {
 public:
  static constexpr std::size_t kRows = 16;  // decided at a time

  virtual ~TreeEnsemble() = default;

  virtual Ensemble ensemble() const = 0;
  // right[s * kRows + r] = 1 if row r goes right at split s, else 0; splits are counted over all trees in
  // their order. REQUIRES: count <= kRows; entries of rows from `count` on are undefined.
  virtual void decide(std::span<const double> rows, std::size_t count,
                      std::span<std::uint8_t> right) const = 0;
  // margins[output * count + r] -> out[r * outputs + output], as the owner turns sums into predictions.
  virtual void transform(std::span<const double> margins, std::size_t count, std::span<double> out) const = 0;
};

}  // namespace hifi
