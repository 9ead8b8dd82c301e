#include "model/onnx_tree_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hifi/error.h"
#include "model/onnx_document.h"

namespace hifi::onnx {

Mode parse_mode(const std::string& name, const std::string& where) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) {
    throw input_error(fmt::format("{}: node mode \"{}\" is unknown", where, shown(name)));
  }
  return static_cast<Mode>(found - std::begin(kNames));
}

Mode parse_mode(double number, const std::string& where) {
  if (!(number >= 0 && number < static_cast<double>(Mode::leaf))) {
    throw input_error(fmt::format("{}: node mode {} is unknown", where, number));
  }
  return static_cast<Mode>(static_cast<int>(number));
}

bool TreeBuilder::Nodes::same_length() const {
  const std::size_t size = mode.size();
  return column.size() == size && threshold.size() == size && yes.size() == size && no.size() == size &&
         (missing_yes.empty() || missing_yes.size() == size);
}

TreeBuilder::TreeBuilder(Nodes nodes, Forest& forest, std::string where)
    : nodes_(std::move(nodes)), forest_(forest), where_(std::move(where)), seen_(nodes_.mode.size()) {
  sets_.emplace_back();
  for (const double member : nodes_.members) {
    if (std::isnan(member)) {
      sets_.emplace_back();
    } else {
      sets_.back().push_back(member);
    }
  }
  if (sets_.back().empty()) sets_.pop_back();
  std::size_t next = 0;
  for (const Mode mode : nodes_.mode) set_of_node_.push_back(mode == Mode::member ? next++ : 0);
  if (next > sets_.size()) {
    throw input_error(fmt::format("{}: {} sets for {} nodes that ask for one", where_, sets_.size(), next));
  }
}

TreeBuilder::Child TreeBuilder::child(std::size_t node, bool yes) const {
  const std::int64_t index = yes ? nodes_.yes[node] : nodes_.no[node];
  const auto& leaf = yes ? nodes_.yes_leaf : nodes_.no_leaf;
  if (!leaf.empty()) return {index, leaf[node] != 0};
  const bool inside = index >= 0 && index < static_cast<std::int64_t>(nodes_.mode.size());
  return {index, inside && nodes_.mode[static_cast<std::size_t>(index)] == Mode::leaf};
}

// A leaf is added wherever it is referred to; a node has one parent, or there would be cycles.
std::int32_t TreeBuilder::place(const Child& child, Forest::FileTree& tree, std::vector<std::size_t>& queue) {
  const std::size_t limit = child.leaf ? nodes_.values.size() : nodes_.mode.size();
  if (child.index < 0 || child.index >= static_cast<std::int64_t>(limit)) {
    throw input_error(
        fmt::format("{}: {} {} does not exist", where_, child.leaf ? "leaf" : "node", child.index));
  }
  const auto index = static_cast<std::size_t>(child.index);
  if (child.leaf) {
    tree.leaves.push_back(nodes_.values[index]);
    return -static_cast<std::int32_t>(tree.leaves.size());
  }
  if (seen_[index]) throw input_error(fmt::format("{}: node {} has two parents", where_, index));
  seen_[index] = true;
  queue.push_back(index);
  return static_cast<std::int32_t>(queue.size() - 1);
}

Forest::Split TreeBuilder::split_of(std::size_t node) {
  const Mode mode = nodes_.mode[node];
  const double threshold = nodes_.threshold[node];
  const std::int64_t column = nodes_.column[node];
  if (column < 0 || column >= static_cast<std::int64_t>(forest_.width())) {
    throw input_error(
        fmt::format("{}: node {} asks for column {} of {}", where_, node, column, forest_.width()),
        "the model was made for another number of columns");
  }
  Forest::Split split{.threshold = threshold, .column = static_cast<std::uint32_t>(column)};
  // Below t is at most the number before t; nothing is below minus infinity.
  if (mode == Mode::below || mode == Mode::at_least) {
    const double lowest = -std::numeric_limits<double>::infinity();
    split.threshold = threshold == lowest ? std::nan("") : std::nextafter(threshold, lowest);
  }
  if (mode == Mode::equal || mode == Mode::not_equal) split.rule = Forest::Rule::equal;
  if (mode == Mode::member) {
    const std::vector<double>& set = sets_[set_of_node_[node]];
    split.rule = Forest::Rule::among;
    split.set_first = forest_.add_list(set);
    split.set_size = static_cast<std::uint32_t>(set.size());
  }
  return split;
}

void TreeBuilder::add(std::int64_t root) {
  Forest::FileTree tree;
  std::vector<std::size_t> queue;
  const bool alone = root >= 0 && root < static_cast<std::int64_t>(nodes_.mode.size()) &&
                     nodes_.mode[static_cast<std::size_t>(root)] == Mode::leaf;
  place({root, alone}, tree, queue);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::size_t node = queue[i];
    const Mode mode = nodes_.mode[node];
    Forest::Split split = split_of(node);
    // Greater and unequal are the opposites of rules: the children change sides. A missing value makes every
    // comparison false but "unequal", unless the node sends it to the true side.
    const bool opposite = mode == Mode::at_least || mode == Mode::above || mode == Mode::not_equal;
    const bool missing_yes =
        mode == Mode::not_equal || (!nodes_.missing_yes.empty() && nodes_.missing_yes[node] != 0);
    split.left = place(child(node, !opposite), tree, queue);
    split.right = place(child(node, opposite), tree, queue);
    split.missing = missing_yes != opposite ? Forest::Missing::left : Forest::Missing::right;
    tree.splits.push_back(split);
  }
  forest_.add_tree(std::move(tree), where_);
}

}  // namespace hifi::onnx
