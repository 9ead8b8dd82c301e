// The tree ensembles of ai.onnx.ml: TreeEnsembleRegressor and TreeEnsembleClassifier (operator sets 1 to 3),
// and TreeEnsemble (5).
#pragma once

#include <string>
#include <vector>

#include "model/forest.h"
#include "model/onnx_document.h"
#include "model/onnx_scores.h"

namespace hifi::onnx {

struct TreeNode {
  Forest forest;
  ScoreRule rule;
  std::vector<std::string> labels;  // of a classifier
};

// `width`: columns of the input. Throws Error(input) that begins with `where`: lists of different lengths,
// nodes that do not exist or have two parents, columns beyond the width.
TreeNode read_trees(const Node& node, std::size_t width, const std::string& where);

}  // namespace hifi::onnx
