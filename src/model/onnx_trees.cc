#include "model/onnx_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "hifi/error.h"
#include "model/onnx_tree_builder.h"

namespace hifi::onnx {

namespace {

constexpr std::size_t kMaxTargets = 1 << 16;

// The attributes of one node, checked as they are asked for.
class Attributes {
 public:
  Attributes(const Node& node, std::string where) : node_(node), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  bool has(std::string_view name) const { return node_.find(name) != nullptr; }
  std::vector<std::int64_t> integers(std::string_view name) const {
    const Attribute* found = node_.find(name);
    return found == nullptr ? std::vector<std::int64_t>{} : found->integers;
  }
  // Floats, or the doubles of name_as_tensor.
  std::vector<double> numbers(const std::string& name) const {
    if (const Attribute* tensor = node_.find(name + "_as_tensor")) return tensor_of(*tensor);
    const Attribute* found = node_.find(name);
    return found == nullptr ? std::vector<double>{} : found->numbers;
  }
  std::vector<double> tensor(std::string_view name) const {
    const Attribute* found = node_.find(name);
    return found == nullptr ? std::vector<double>{} : tensor_of(*found);
  }
  std::vector<std::string> texts(std::string_view name) const {
    const Attribute* found = node_.find(name);
    return found == nullptr ? std::vector<std::string>{} : found->texts;
  }
  std::string text(std::string_view name, std::string otherwise) const {
    const Attribute* found = node_.find(name);
    return found == nullptr ? otherwise : found->text;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const Attribute* found = node_.find(name);
    return found == nullptr ? otherwise : found->integer;
  }
  bool doubles() const {
    return std::ranges::any_of(node_.attributes, [](const Attribute& a) {
      return !a.tensors.empty() && a.tensors.front().type == Element::float64;
    });
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw input_error(fmt::format("{}: {}", where_, problem));
  }

 private:
  std::vector<double> tensor_of(const Attribute& attribute) const {
    if (attribute.tensors.size() != 1) fail(fmt::format("{} is no tensor", shown(attribute.name)));
    return tensor_numbers(attribute.tensors.front(), where_);
  }

  const Node& node_;
  std::string where_;
};

std::size_t count_of(std::int64_t value, std::string_view name, const Attributes& attributes) {
  if (value < 1 || value > static_cast<std::int64_t>(kMaxTargets)) {
    attributes.fail(fmt::format("{} is {}", name, value));
  }
  return static_cast<std::size_t>(value);
}

Aggregate aggregate_of(const std::string& name, ScoreRule& rule, const Attributes& attributes) {
  if (name == "MIN") return Aggregate::least;
  if (name == "MAX") return Aggregate::greatest;
  if (name != "SUM" && name != "AVERAGE") {
    attributes.fail(fmt::format("aggregate_function \"{}\" is unknown", shown(name)));
  }
  rule.averaged = name == "AVERAGE" ? 1 : 0;  // the number of trees is filled in when they are known
  return Aggregate::sum;
}

// Leaves of the first three operator sets: lists of (tree, node, target, weight).
struct WeightList {
  std::vector<std::int64_t> trees, nodes, targets;
  std::vector<double> weights;
};

WeightList read_weights(const Attributes& a, const std::string& prefix) {
  WeightList list{.trees = a.integers(prefix + "_treeids"),
                  .nodes = a.integers(prefix + "_nodeids"),
                  .targets = a.integers(prefix + "_ids"),
                  .weights = a.numbers(prefix + "_weights")};
  const std::size_t size = list.weights.size();
  if (list.trees.size() != size || list.nodes.size() != size || list.targets.size() != size) {
    a.fail(fmt::format("the lists {}_* differ in length", prefix));
  }
  return list;
}

void check_targets(const std::vector<std::int64_t>& targets, std::size_t count, const Attributes& a) {
  for (const std::int64_t target : targets) {
    if (target < 0 || target >= static_cast<std::int64_t>(count)) {
      a.fail(fmt::format("a leaf for output {} of {}", target, count));
    }
  }
}

TreeBuilder::Nodes read_listed_nodes(const Attributes& a) {
  TreeBuilder::Nodes nodes{.column = a.integers("nodes_featureids"),
                           .threshold = a.numbers("nodes_values"),
                           .yes = a.integers("nodes_truenodeids"),
                           .no = a.integers("nodes_falsenodeids"),
                           .missing_yes = a.integers("nodes_missing_value_tracks_true")};
  for (const std::string& mode : a.texts("nodes_modes")) nodes.mode.push_back(parse_mode(mode, a.where()));
  return nodes;
}

// Children are given as node ids within the tree: turned into positions in the lists.
void resolve_children(TreeBuilder::Nodes& nodes, const std::vector<std::int64_t>& trees,
                      const std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>& place,
                      const Attributes& a) {
  for (std::size_t i = 0; i < nodes.mode.size(); ++i) {
    if (nodes.mode[i] == Mode::leaf) continue;
    for (std::int64_t* child : {&nodes.yes[i], &nodes.no[i]}) {
      const auto found = place.find({trees[i], *child});
      if (found == place.end()) a.fail(fmt::format("tree {}: node {} does not exist", trees[i], *child));
      *child = found->second;
    }
  }
}

void add_listed_trees(const Attributes& a, const WeightList& weights, Forest& forest) {
  TreeBuilder::Nodes nodes = read_listed_nodes(a);
  const auto trees = a.integers("nodes_treeids");
  const auto ids = a.integers("nodes_nodeids");
  const std::size_t count = nodes.mode.size();
  if (trees.size() != count || ids.size() != count || !nodes.same_length()) {
    a.fail("the lists nodes_* differ in length");
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> place;
  for (std::size_t i = 0; i < count; ++i) {
    if (!place.emplace(std::pair(trees[i], ids[i]), static_cast<std::int64_t>(i)).second) {
      a.fail(fmt::format("tree {}: node {} is there twice", trees[i], ids[i]));
    }
  }
  resolve_children(nodes, trees, place, a);
  nodes.values.resize(count);
  for (std::size_t w = 0; w < weights.weights.size(); ++w) {
    const auto found = place.find({weights.trees[w], weights.nodes[w]});
    if (found == place.end()) {
      a.fail(fmt::format("tree {}: a weight for node {}, which does not exist", weights.trees[w],
                         weights.nodes[w]));
    }
    nodes.values[static_cast<std::size_t>(found->second)].push_back(
        {static_cast<std::uint32_t>(weights.targets[w]), weights.weights[w]});
  }
  TreeBuilder builder(std::move(nodes), forest, a.where());
  std::set<std::int64_t> done;
  for (std::size_t i = 0; i < count; ++i) {
    // The root is the first node of its tree.
    if (i > 0 && trees[i] == trees[i - 1]) continue;
    if (!done.insert(trees[i]).second) continue;
    builder.add(static_cast<std::int64_t>(i));
  }
}

TreeNode read_listed(const Attributes& a, bool classifier, std::size_t width) {
  ScoreRule rule{.classifier = classifier,
                 .transform = parse_post_transform(a.text("post_transform", "NONE"), a.where()),
                 .double_precision = a.doubles(),
                 .base = a.numbers("base_values")};
  std::vector<std::string> labels = a.texts("classlabels_strings");
  if (labels.empty()) {
    for (const std::int64_t label : a.integers("classlabels_int64s"))
      labels.push_back(fmt::format("{}", label));
  }
  const auto given = static_cast<std::int64_t>(labels.size());
  rule.sums =
      count_of(classifier ? given : a.integer("n_targets", 1), classifier ? "classlabels" : "n_targets", a);
  rule.scores = rule.sums;
  const WeightList weights = read_weights(a, classifier ? "class" : "target");
  check_targets(weights.targets, rule.sums, a);
  const auto& targets = weights.targets;
  rule.scores_first = std::ranges::find(targets, 0) != targets.end();
  rule.scores_second = std::ranges::find(targets, 1) != targets.end();
  rule.all_positive = std::ranges::all_of(weights.weights, [](double w) { return w >= 0; });
  // onnxruntime then leaves the second class undefined.
  if (classifier && rule.sums == 2 && !rule.scores_second && rule.transform == PostTransform::probit) {
    a.fail("PROBIT of two classes of which one is scored is not supported");
  }
  const Aggregate aggregate =
      classifier ? Aggregate::sum : aggregate_of(a.text("aggregate_function", "SUM"), rule, a);
  Forest forest(width, std::vector<double>(rule.sums),
                rule.double_precision ? Precision::twofold : Precision::single, aggregate);
  add_listed_trees(a, weights, forest);
  if (rule.averaged != 0) rule.averaged = forest.trees();
  return {std::move(forest), std::move(rule), std::move(labels)};
}

// Operator set 5: nodes and leaves in lists of their own, trees by their roots.
TreeNode read_rooted(const Attributes& a, std::size_t width) {
  // The specification has SOFTMAX before LOGISTIC; onnxruntime reads them in this order, and so must we to
  // predict what it predicts.
  constexpr std::string_view kTransforms[] = {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"};
  constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto choose = [&](std::string_view name, std::int64_t otherwise, const auto& list) {
    const std::int64_t index = a.integer(name, otherwise);
    if (index < 0 || index >= static_cast<std::int64_t>(std::size(list)))
      a.fail(fmt::format("{} is {}", name, index));
    return std::string(list[static_cast<std::size_t>(index)]);
  };
  ScoreRule rule{.transform = parse_post_transform(choose("post_transform", 0, kTransforms), a.where()),
                 .double_precision = a.doubles()};
  rule.sums = rule.scores = count_of(a.integer("n_targets", 1), "n_targets", a);
  const Aggregate aggregate = aggregate_of(choose("aggregate_function", 1, kAggregates), rule, a);
  TreeBuilder::Nodes nodes{.column = a.integers("nodes_featureids"),
                           .threshold = a.tensor("nodes_splits"),
                           .yes = a.integers("nodes_truenodeids"),
                           .no = a.integers("nodes_falsenodeids"),
                           .missing_yes = a.integers("nodes_missing_value_tracks_true"),
                           .yes_leaf = a.integers("nodes_trueleafs"),
                           .no_leaf = a.integers("nodes_falseleafs"),
                           .members = a.tensor("membership_values")};
  for (const double mode : a.tensor("nodes_modes")) nodes.mode.push_back(parse_mode(mode, a.where()));
  const auto targets = a.integers("leaf_targetids");
  const auto weights = a.tensor("leaf_weights");
  const std::size_t count = nodes.mode.size();
  if (!nodes.same_length() || nodes.yes_leaf.size() != count || nodes.no_leaf.size() != count ||
      targets.size() != weights.size()) {
    a.fail("the lists of its nodes or leaves differ in length");
  }
  check_targets(targets, rule.sums, a);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    nodes.values.push_back({{static_cast<std::uint32_t>(targets[k]), weights[k]}});
  }
  Forest forest(width, std::vector<double>(rule.sums),
                rule.double_precision ? Precision::twofold : Precision::single, aggregate);
  TreeBuilder builder(std::move(nodes), forest, a.where());
  for (const std::int64_t root : a.integers("tree_roots")) builder.add(root);
  if (rule.averaged != 0) rule.averaged = forest.trees();
  return {std::move(forest), std::move(rule), {}};
}

}  // namespace

TreeNode read_trees(const Node& node, std::size_t width, const std::string& where) {
  const Attributes attributes(node, fmt::format("{}: {}", where, operator_name(node)));
  const bool listed = node.op != "TreeEnsemble";
  TreeNode trees = listed ? read_listed(attributes, node.op == "TreeEnsembleClassifier", width)
                          : read_rooted(attributes, width);
  if (trees.forest.trees() == 0) attributes.fail("has no trees");
  const std::size_t bases = trees.rule.base.size();
  if (bases > 1 && bases != trees.rule.sums) {
    attributes.fail(fmt::format("{} base values for {} outputs", bases, trees.rule.sums));
  }
  return trees;
}

}  // namespace hifi::onnx
