#include "demo_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hifi::app {

namespace {

using nlohmann::json;

const std::vector<std::string> kColumns = {"unique", "copy_a", "copy_b", "xor_1", "xor_2", "xor_3", "noise"};

// A tree that splits each of its columns at -0.5 and 0.5 and has a leaf for every combination of -1, 0, 1.
class TreeBuilder {
 public:
  using Value = std::function<double(const std::vector<int>&)>;

  TreeBuilder(std::vector<int> columns, Value value)
      : columns_(std::move(columns)), value_(std::move(value)) {
    std::vector<int> levels;
    grow(levels, kRoot);
  }

  json tree(int id) const {
    const std::size_t nodes = left_.size();
    return {{"base_weights", std::vector<double>(nodes)},
            {"categories", json::array()},
            {"categories_nodes", json::array()},
            {"categories_segments", json::array()},
            {"categories_sizes", json::array()},
            {"default_left", std::vector<int>(nodes)},
            {"id", id},
            {"left_children", left_},
            {"loss_changes", std::vector<double>(nodes)},
            {"parents", parent_},
            {"right_children", right_},
            {"split_conditions", condition_},
            {"split_indices", column_},
            {"split_type", std::vector<int>(nodes)},
            {"sum_hessian", std::vector<double>(nodes, 1.0)},
            {"tree_param",
             {{"num_deleted", "0"},
              {"num_feature", std::to_string(kColumns.size())},
              {"num_nodes", std::to_string(nodes)},
              {"size_leaf_vector", "1"}}}};
  }

 private:
  static constexpr int kRoot = 2147483647;  // XGBoost's parent of a root

  int add(int parent, int column, double condition) {
    left_.push_back(-1);
    right_.push_back(-1);
    parent_.push_back(parent);
    column_.push_back(column);
    condition_.push_back(condition);
    return static_cast<int>(left_.size()) - 1;
  }

  int grow(std::vector<int>& levels, int parent) {
    if (levels.size() == columns_.size()) return add(parent, 0, value_(levels));
    const int column = columns_[levels.size()];
    const int low = add(parent, column, -0.5);
    set(left_, low, branch(levels, -1, low));
    const int high = add(low, column, 0.5);
    set(right_, low, high);
    set(left_, high, branch(levels, 0, high));
    set(right_, high, branch(levels, 1, high));
    return low;
  }

  int branch(std::vector<int>& levels, int level, int parent) {
    levels.push_back(level);
    const int child = grow(levels, parent);
    levels.pop_back();
    return child;
  }

  static void set(std::vector<int>& children, int node, int child) {
    children[static_cast<std::size_t>(node)] = child;
  }

  std::vector<int> columns_;
  Value value_;
  std::vector<int> left_, right_, parent_, column_;
  std::vector<double> condition_;
};

}  // namespace

std::string demo_model() {
  const std::vector<TreeBuilder> trees = {
      TreeBuilder({0}, [](const auto& x) { return x[0]; }),
      TreeBuilder({1, 2}, [](const auto& x) { return std::clamp(x[0] + x[1], -1, 1); }),
      TreeBuilder({3, 4, 5}, [](const auto& x) { return x[0] * x[1] * x[2]; })};
  json list = json::array();
  for (std::size_t t = 0; t < trees.size(); ++t) list.push_back(trees[t].tree(static_cast<int>(t)));
  const std::string count = std::to_string(trees.size());
  const json booster = {{"model",
                         {{"gbtree_model_param", {{"num_parallel_tree", "1"}, {"num_trees", count}}},
                          {"iteration_indptr", {0, 1, 2, 3}},
                          {"tree_info", {0, 0, 0}},
                          {"trees", list}}},
                        {"name", "gbtree"}};
  const json model = {
      {"learner",
       {{"attributes", json::object()},
        {"feature_names", kColumns},
        {"feature_types", std::vector<std::string>(kColumns.size(), "float")},
        {"gradient_booster", booster},
        {"learner_model_param",
         {{"base_score", "0E0"},
          {"boost_from_average", "1"},
          {"num_class", "0"},
          {"num_feature", std::to_string(kColumns.size())},
          {"num_target", "1"}}},
        {"objective", {{"name", "reg:squarederror"}, {"reg_loss_param", {{"scale_pos_weight", "1"}}}}}}},
      {"version", {2, 1, 0}}};
  return model.dump() + "\n";
}

std::string demo_data() {
  std::string text = "unique,copy_a,copy_b,xor_1,xor_2,xor_3,noise,y\n";
  for (int bits = 0; bits < 64; ++bits) {
    const auto sign = [&](int k) { return (bits >> k) & 1 ? 1 : -1; };
    const int y = sign(0) + sign(1) + sign(2) * sign(3) * sign(4);
    text += fmt::format("{},{},{},{},{},{},{},{}\n", sign(0), sign(1), sign(1), sign(2), sign(3), sign(4),
                        sign(5), y);
  }
  return text;
}

}  // namespace hifi::app
