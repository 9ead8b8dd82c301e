#include "model/xgboost_forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hifi/error.h"

namespace hifi::xgboost {

namespace {

constexpr std::size_t kLanes = 8;
constexpr unsigned kShallow = 8;  // deeper trees are worth asking whether all lanes have arrived
constexpr std::uint32_t kNoSet = 0xffffffff;
constexpr std::size_t kMaxCategory = 1 << 24;  // XGBoost takes this and more for an invalid category
constexpr std::size_t kMaxCategoryWords = std::size_t{1} << 26;
constexpr std::size_t kMaxNodes = std::size_t{1} << 31;

std::string node_name(const std::string& where, std::size_t node) {
  return fmt::format("{} node {}", where, node);
}

// A number of the file as an index below `limit`; `limit` itself if it is none.
std::size_t to_index(double number, std::size_t limit) {
  const bool valid = number >= 0 && number < static_cast<double>(limit) && number == std::floor(number);
  return valid ? static_cast<std::size_t>(number) : limit;
}

bool is_leaf(const FileTree& tree, std::size_t node) { return tree.left[node] == -1; }

bool is_categorical(const FileTree& tree, std::size_t node) {
  return !tree.split_type.empty() && tree.split_type[node] == 1;
}

void check_sizes(const FileTree& tree, const std::string& where) {
  const std::size_t n = tree.left.size();
  if (n == 0 || n > kMaxNodes) throw input_error(fmt::format("{}: {} nodes", where, n));
  const bool same = tree.right.size() == n && tree.feature.size() == n && tree.threshold.size() == n &&
                    tree.default_left.size() == n && (tree.split_type.empty() || tree.split_type.size() == n);
  if (!same) throw input_error(fmt::format("{}: the arrays of its nodes differ in length", where));
}

struct Order {
  std::vector<std::size_t> nodes;  // of the file, level by level, siblings side by side
  std::vector<std::size_t> left;   // position of the left child in `nodes`
  unsigned depth = 0;
};

// Nodes that the root does not reach (pruned ones) are left out; a node that is reached twice is an error,
// which rules out cycles.
Order order_nodes(const FileTree& tree, const std::string& where) {
  const std::size_t n = tree.left.size();
  std::vector<bool> seen(n, false);
  Order order{.nodes = {0}, .left = {}};
  seen[0] = true;
  std::size_t level_end = 1;
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    if (i == level_end) {
      ++order.depth;
      level_end = order.nodes.size();
    }
    order.left.push_back(order.nodes.size());
    const std::size_t node = order.nodes[i];
    if (is_leaf(tree, node)) continue;
    for (const double child : {tree.left[node], tree.right[node]}) {
      const std::size_t index = to_index(child, n);
      if (index == n)
        throw input_error(fmt::format("{}: child {} is no node", node_name(where, node), child));
      if (seen[index]) {
        throw input_error(fmt::format("{}: child {} has two parents", node_name(where, node), child));
      }
      seen[index] = true;
      order.nodes.push_back(index);
    }
  }
  return order;
}

}  // namespace

Forest::Forest(std::size_t width, std::vector<float> base_margins)
    : width_(width), base_margins_(std::move(base_margins)) {}

std::uint32_t Forest::input_of(std::size_t column) {
  const auto next = static_cast<std::uint32_t>(used_.size() * kBlockRows);
  const auto [place, added] = input_of_column_.try_emplace(column, next);
  if (added) used_.push_back(column);
  return place->second;
}

// The children are filled in by add_tree().
Forest::Node Forest::make_node(const FileTree& tree, std::size_t file_node, float weight,
                               const std::string& where) {
  const auto number = static_cast<float>(tree.threshold[file_node]);
  if (is_leaf(tree, file_node)) {
    if (!std::isfinite(number)) {
      throw input_error(fmt::format("{}: the leaf is not a finite number", node_name(where, file_node)));
    }
    return {.threshold = std::numeric_limits<float>::quiet_NaN(), .input = 0, .value = number * weight};
  }
  const std::size_t column = to_index(tree.feature[file_node], width_);
  if (column == width_) {
    throw input_error(fmt::format("{}: feature {} of a model with {}", node_name(where, file_node),
                                  tree.feature[file_node], width_));
  }
  if (std::isnan(number) && !is_categorical(tree, file_node)) {
    throw input_error(fmt::format("{}: the threshold is not a number", node_name(where, file_node)));
  }
  const double side = tree.default_left[file_node];
  if (side != 0 && side != 1) {
    throw input_error(fmt::format("{}: default_left is neither 0 nor 1", node_name(where, file_node)));
  }
  return {.threshold = number, .input = input_of(column) | (side == 1 ? kDefaultLeft : 0), .value = 0};
}

// The set of categories that go right, for each node of the file.
std::vector<std::uint32_t> Forest::add_category_sets(const FileTree& tree, const std::string& where) {
  std::vector<std::uint32_t> set_of_node(tree.left.size(), kNoSet);
  const std::size_t count = tree.category_nodes.size();
  if (tree.category_segments.size() != count || tree.category_sizes.size() != count) {
    throw input_error(fmt::format("{}: the arrays of its categories differ in length", where));
  }
  const std::size_t total = tree.categories.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t node = to_index(tree.category_nodes[k], set_of_node.size());
    const std::size_t first = to_index(tree.category_segments[k], total + 1);
    const std::size_t size = to_index(tree.category_sizes[k], total + 1);
    if (node == set_of_node.size() || first > total || size > total - first || set_of_node[node] != kNoSet) {
      throw input_error(fmt::format("{}: category set {} does not fit the tree", where, k));
    }
    const auto members = tree.categories.subspan(first, size);
    const double largest = members.empty() ? 0 : *std::max_element(members.begin(), members.end());
    const CategorySet set{category_words_.size(), to_index(largest, kMaxCategory) / 32 + 1};
    if (category_words_.size() + set.words > kMaxCategoryWords) {
      throw input_error(fmt::format("{}: its category sets need too much memory", node_name(where, node)));
    }
    category_words_.resize(category_words_.size() + set.words, 0);
    for (const double member : members) {
      const std::size_t category = to_index(member, kMaxCategory);
      if (category == kMaxCategory || category / 32 >= set.words) {
        throw input_error(fmt::format("{}: {} is no category", node_name(where, node), member));
      }
      category_words_[set.first_word + category / 32] |= std::uint32_t{1} << (category % 32);
    }
    set_of_node[node] = static_cast<std::uint32_t>(sets_.size());
    sets_.push_back(set);
  }
  return set_of_node;
}

void Forest::add_tree(const FileTree& tree, std::size_t group, float weight, const std::string& where) {
  check_sizes(tree, where);
  const Order order = order_nodes(tree, where);
  Tree added{.first = nodes_.size(),
             .group = group,
             .depth = order.depth,
             .categorical = !tree.category_nodes.empty(),
             .first_set = set_of_node_.size()};
  std::vector<std::uint32_t> sets;
  if (added.categorical) sets = add_category_sets(tree, where);
  for (std::size_t i = 0; i < order.nodes.size(); ++i) {
    const std::size_t file_node = order.nodes[i];
    Node node = make_node(tree, file_node, weight, where);
    const bool leaf = is_leaf(tree, file_node);
    node.left = static_cast<std::uint32_t>(leaf ? i - 1 : order.left[i]);  // the root wraps around, and back
    nodes_.push_back(node);
    const bool split_by_set = !leaf && is_categorical(tree, file_node);
    if (split_by_set && (sets.empty() || sets[file_node] == kNoSet)) {
      throw input_error(
          fmt::format("{}: a categorical split without categories", node_name(where, file_node)));
    }
    if (added.categorical) set_of_node_.push_back(split_by_set ? sets[file_node] : kNoSet);
  }
  trees_.push_back(added);
}

Forest::Scratch Forest::make_scratch() const {
  // A tree of one leaf reads inputs[0] all the same.
  const std::size_t columns = std::max<std::size_t>(used_.size(), 1);
  return {std::vector<float>(columns * kBlockRows), std::vector<float>(base_margins_.size() * kBlockRows)};
}

// Returns whether a value is missing.
bool Forest::fill_inputs(const double* rows, std::size_t count, Scratch& scratch) const {
  bool missing = false;
  for (std::size_t r = 0; r < count; ++r) {
    const double* row = rows + r * width_;
    float* input = scratch.inputs.data() + r;
    for (const std::size_t column : used_) {
      const auto value = static_cast<float>(row[column]);
      missing |= std::isnan(value);
      *input = value;
      input += kBlockRows;
    }
  }
  return missing;
}

void Forest::predict_block(const double* rows, std::size_t count, Scratch& scratch) const {
  const bool missing = fill_inputs(rows, count, scratch);
  for (std::size_t g = 0; g < base_margins_.size(); ++g) {
    std::fill_n(scratch.margins.begin() + static_cast<std::ptrdiff_t>(g * kBlockRows), kBlockRows,
                base_margins_[g]);
  }
  const float* inputs = scratch.inputs.data();
  for (const Tree& tree : trees_) {
    float* margins = scratch.margins.data() + tree.group * kBlockRows;
    if (tree.categorical) {
      walk_categorical(tree, count, inputs, margins);
    } else if (missing) {
      walk<true>(tree, count, inputs, margins);
    } else {
      walk<false>(tree, count, inputs, margins);
    }
  }
}

// Rows behind `count` are walked too, to fill the last lanes; what they hold does not matter.
template <bool kMissing>
void Forest::walk(const Tree& tree, std::size_t count, const float* inputs, float* margins) const {
  const Node* nodes = nodes_.data() + tree.first;
  for (std::size_t r = 0; r < count; r += kLanes) {
    std::uint32_t at[kLanes] = {};
    for (unsigned level = 0; level < tree.depth; ++level) {
      std::uint32_t moved = 0;
#pragma GCC unroll 8
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Node& node = nodes[at[lane]];
        const float input = inputs[(node.input & kInputMask) + r + lane];
        bool left = input < node.threshold;
        if constexpr (kMissing) left |= (input != input) & ((node.input & kDefaultLeft) != 0);
        const std::uint32_t to = node.left + !left;
        moved |= to ^ at[lane];
        at[lane] = to;
      }
      if (level >= kShallow && moved == 0) break;
    }
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < kLanes; ++lane) margins[r + lane] += nodes[at[lane]].value;
  }
}

// Members of the set go right. What is no category at all, or one that training did not see, is in no set;
// a fraction counts as the integer below it. The owner does the same (tests/test_xgboost.py).
bool Forest::goes_right(const CategorySet& set, float category) const {
  if (!(category >= 0 && category < static_cast<float>(kMaxCategory))) return false;
  const auto code = static_cast<std::size_t>(category);
  return code / 32 < set.words && (category_words_[set.first_word + code / 32] >> (code % 32) & 1) != 0;
}

void Forest::walk_categorical(const Tree& tree, std::size_t count, const float* inputs,
                              float* margins) const {
  const Node* nodes = nodes_.data() + tree.first;
  const std::uint32_t* set_of_node = set_of_node_.data() + tree.first_set;
  for (std::size_t r = 0; r < count; ++r) {
    std::uint32_t at = 0;
    for (unsigned level = 0; level < tree.depth; ++level) {
      const Node& node = nodes[at];
      if (node.left < at) break;  // a leaf
      const float input = inputs[(node.input & kInputMask) + r];
      bool left = input < node.threshold;
      if (set_of_node[at] != kNoSet) left = !goes_right(sets_[set_of_node[at]], input);
      if (std::isnan(input)) left = (node.input & kDefaultLeft) != 0;
      at = node.left + !left;
    }
    margins[r] += nodes[at].value;
  }
}

}  // namespace hifi::xgboost
