// Random trees for tests, walked as plainly as can be. Missing values go right at even columns.
#pragma once

#include <cmath>
#include <vector>

#include "core/random.h"
#include "model/model.h"
#include "model/tree_ensemble.h"

namespace hifi {

class TestTrees : public Model, public TreeEnsemble {
 public:
  // Depth 0 is a single leaf. Deeper than 12, trees are chains: one child of every split is a leaf.
  TestTrees(std::uint64_t seed, std::size_t width, std::size_t outputs, std::size_t trees, std::size_t depth,
            bool classifier)
      : random_(seed, Purpose::probe), classifier_(classifier) {
    info_.path = info_.format = "test";
    info_.width = width;
    info_.outputs = outputs;
    info_.task = classifier || outputs > 1 ? Task::classification : Task::regression;
    for (std::size_t t = 0; t < trees; ++t) {
      EnsembleTree tree{.output = t % outputs};
      depth == 0 ? tree.leaves.push_back(0.7) : void(grow(tree, depth, depth > 12));
      thresholds_.emplace_back();
      for (std::size_t s = 0; s < tree.splits.size(); ++s)
        thresholds_.back().push_back(static_cast<double>(random_.below(2)) + 0.5);
      ensemble_.trees.push_back(std::move(tree));
    }
    for (std::size_t g = 0; g < outputs; ++g) ensemble_.base.push_back(0.25 * static_cast<double>(g) - 0.3);
    ensemble_.identity = !classifier_ && outputs == 1;
  }

  void ignore_column(std::uint32_t column) {
    for (EnsembleTree& tree : ensemble_.trees) {
      for (auto& split : tree.splits) {
        if (split.column == column) split.column = 0;
      }
    }
  }

  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    for (std::size_t r = 0; r < count; ++r) {
      std::vector<double> margins = ensemble_.base;
      for (std::size_t t = 0; t < ensemble_.trees.size(); ++t) {
        const EnsembleTree& tree = ensemble_.trees[t];
        std::int32_t at = tree.splits.empty() ? -1 : 0;
        while (at >= 0) {
          const auto s = static_cast<std::size_t>(at);
          at = goes_right(t, s, rows.data() + r * info_.width) ? tree.splits[s].right : tree.splits[s].left;
        }
        margins[tree.output] += tree.leaves[static_cast<std::size_t>(-1 - at)];
      }
      transform(margins, 1, out.subspan(r * info_.outputs, info_.outputs));
    }
  }

  Ensemble ensemble() const override { return ensemble_; }
  void decide(std::span<const double> rows, std::size_t count, std::span<std::uint8_t> right) const override {
    std::size_t at = 0;
    for (std::size_t t = 0; t < ensemble_.trees.size(); ++t) {
      for (std::size_t s = 0; s < ensemble_.trees[t].splits.size(); ++s, at += kRows) {
        for (std::size_t r = 0; r < count; ++r)
          right[at + r] = goes_right(t, s, rows.data() + r * info_.width);
      }
    }
  }
  void transform(std::span<const double> margins, std::size_t count, std::span<double> out) const override {
    const std::size_t k = info_.outputs;
    for (std::size_t r = 0; r < count; ++r) {
      double sum = 0;
      for (std::size_t g = 0; g < k; ++g) {
        const double margin = margins[g * count + r];
        out[r * k + g] = ensemble_.identity ? margin
                         : k == 1           ? 1 / (1 + std::exp(-margin))
                                            : std::exp(margin);
        sum += out[r * k + g];
      }
      for (std::size_t g = 0; k > 1 && g < k; ++g) out[r * k + g] /= sum;
    }
  }

 private:
  std::int32_t grow(EnsembleTree& tree, std::size_t depth, bool chain) {
    if (depth == 0 || (!chain && !tree.splits.empty() && random_.below(8) == 0)) {
      tree.leaves.push_back(random_.uniform() - 0.5);
      return -static_cast<std::int32_t>(tree.leaves.size());
    }
    const std::size_t split = tree.splits.size();
    tree.splits.push_back({.column = static_cast<std::uint32_t>(random_.below(info_.width))});
    const std::int32_t left = grow(tree, chain && random_.below(2) == 0 ? 0 : depth - 1, chain);
    const std::int32_t right = grow(tree, chain && left >= 0 ? 0 : depth - 1, chain);
    tree.splits[split].left = left;
    tree.splits[split].right = right;
    return static_cast<std::int32_t>(split);
  }
  bool goes_right(std::size_t tree, std::size_t split, const double* row) const {
    const std::uint32_t column = ensemble_.trees[tree].splits[split].column;
    return std::isnan(row[column]) ? column % 2 == 0 : row[column] >= thresholds_[tree][split];
  }

  RandomStream random_;
  bool classifier_;
  ModelInfo info_;
  Ensemble ensemble_;
  std::vector<std::vector<double>> thresholds_;
};

}  // namespace hifi
