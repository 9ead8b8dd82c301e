// What an ONNX tree ensemble does to the sums of its leaves: average, base values, a second class for models
// that score one, and the post transform. Single precision throughout, as onnxruntime computes it; where the
// specification is vague we do what onnxruntime does (tests/test_onnx_trees.py asks it).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hifi::onnx {

enum class PostTransform { none, logistic, softmax, softmax_zero, probit };

struct ScoreRule {
  bool classifier = false;
  PostTransform transform = PostTransform::none;
  std::size_t sums = 1;      // per row, from the trees
  std::size_t scores = 1;    // per row, given out
  std::size_t averaged = 0;  // trees, if the sums are divided by them
  bool double_precision = false;
  std::vector<double> base;  // none, one, or one per sum
  // Of two classes: which have leaves, and whether no leaf is below 0.
  bool scores_first = false, scores_second = false, all_positive = false;

  // The score is the sum, but for a factor and a constant.
  bool linear() const;
};

// Throws Error(input) that begins with `where`.
PostTransform parse_post_transform(const std::string& name, const std::string& where);

// sums -> scores of one row.
void finish_scores(const ScoreRule& rule, std::span<double> sums, std::span<double> scores);

}  // namespace hifi::onnx
