// What the targets of models do with one that was read: rows of usual and unusual values.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/tree_ensemble.h"

namespace hifi::fuzz {

inline void try_model(const Model& model) {
  constexpr std::size_t kWide = 4096;
  const ModelInfo& info = model.info();
  if (info.width > kWide || info.outputs > kWide) return;
  const double values[] = {0, 1, -1e300, std::nan(""), std::numeric_limits<double>::infinity(), 0.3};
  const std::size_t rows = std::size(values);
  std::vector<double> table(rows * info.width);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::size_t column = i % info.width;
    double value = values[(i / info.width + column) % rows];
    // A categorical column holds codes of its categories.
    if (!info.categories.empty() && !info.categories[column].empty()) {
      value = static_cast<double>(i % info.categories[column].size());
    }
    table[i] = value;
  }
  std::vector<double> out(rows * info.outputs);
  model.predict(table, rows, out);
  const auto* trees = dynamic_cast<const TreeEnsemble*>(&model);
  if (trees == nullptr) return;
  const Ensemble ensemble = trees->ensemble();
  std::size_t splits = 0;
  for (const EnsembleTree& tree : ensemble.trees) splits += tree.splits.size();
  std::vector<std::uint8_t> right(splits * TreeEnsemble::kRows);
  trees->decide(table, rows, right);
  const std::vector<double> margins(rows * ensemble.base.size(), 0.5);
  trees->transform(margins, rows, out);
}

}  // namespace hifi::fuzz
