#include "model/xgboost_model.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "hifi/error.h"
#include "model/xgboost_categories.h"
#include "model/xgboost_document.h"
#include "model/xgboost_forest.h"
#include "model/xgboost_objective.h"

namespace hifi {

namespace xgboost {
namespace {

constexpr std::size_t kMaxColumns = std::size_t{1} << 26;  // what Forest can address
constexpr std::size_t kMaxClasses = 1 << 16;
constexpr std::string_view kSaveHint = "save it with booster.save_model(\"model.json\")";

class XgboostModel : public Model, public TreeEnsemble {
 public:
  XgboostModel(ModelInfo info, Transform transform, Forest forest)
      : info_(std::move(info)), transform_(transform), forest_(std::move(forest)) {}

  const ModelInfo& info() const override { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (rows.size() != count * info_.width || out.size() != count * info_.outputs) {
      throw Error(ErrorCode::bug, fmt::format("{}: predict() got arrays of the wrong size", info_.path));
    }
    Forest::Scratch scratch = forest_.make_scratch();
    for (std::size_t first = 0; first < count; first += Forest::kBlockRows) {
      const std::size_t block = std::min(Forest::kBlockRows, count - first);
      forest_.predict_block(rows.data() + first * info_.width, block, scratch);
      transform_margins(transform_, scratch.margins.data(), info_.outputs, Forest::kBlockRows, block,
                        out.data() + first * info_.outputs);
    }
  }

  Ensemble ensemble() const override {
    Ensemble ensemble = forest_.ensemble();
    ensemble.identity = transform_ == Transform::identity;
    return ensemble;
  }
  void decide(std::span<const double> rows, std::size_t count, std::span<std::uint8_t> right) const override {
    Forest::Scratch scratch = forest_.make_scratch();
    forest_.decide(rows.data(), count, scratch, right.data());
  }
  void transform(std::span<const double> margins, std::size_t count, std::span<double> out) const override {
    const std::vector<float> rounded(margins.begin(), margins.end());
    transform_margins(transform_, rounded.data(), info_.outputs, count, count, out.data());
  }

 private:
  ModelInfo info_;
  Transform transform_;
  Forest forest_;
};

std::string content_hash(std::string_view content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// "5E-1" before 3.1, "[5E-1]" or "[1E0,2E0]" since.
std::vector<float> parse_base_scores(std::string_view text, const std::string& where) {
  const std::string whole(text);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<float> scores;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (true) {
    float score = 0;
    const auto [next, code] = std::from_chars(at, end, score);
    if (code != std::errc{} || (next != end && *next != ',')) break;
    scores.push_back(score);
    if (next == end) return scores;
    at = next + 1;
  }
  throw input_error(fmt::format("{}: base_score \"{}\" is not a number", where, shown(whole)));
}

// XGBoost 3.2 was the first to accept base scores of 0 and 1 for logistic objectives.
bool clamps_base_score(const Value& root, const std::string& where) {
  if (find_field(root, "version") == nullptr) return true;
  const auto version = number_list(root, "version", where);
  return version.size() < 2 || version[0] > 3 || (version[0] == 3 && version[1] >= 2);
}

std::vector<float> base_margins(const Value& root, const Value& parameters, const Objective& objective,
                                std::size_t groups, const std::string& where) {
  const std::string& text = text_field(parameters, "base_score", where);
  std::vector<float> margins = parse_base_scores(text, where);
  if (margins.size() != 1 && margins.size() != groups) {
    throw input_error(fmt::format("{}: {} base scores for {} outputs", where, margins.size(), groups));
  }
  const bool clamp = clamps_base_score(root, where);
  for (float& margin : margins) {
    margin = base_margin(objective.link, margin, clamp);
    // Minus infinity is what a Poisson model of zeros has; its prediction is 0.
    const bool usable = std::isfinite(margin) || (objective.link == Link::log && margin < 0);
    if (!usable)
      throw input_error(
          fmt::format("{}: base_score {} does not suit {}", where, shown(text), objective.name));
  }
  margins.resize(groups, margins[0]);
  return margins;
}

// Outputs per row, after refusing what has several that are no classes.
std::size_t count_outputs(const Value& parameters, const Objective& objective, const std::string& where) {
  const std::size_t classes = count_field(parameters, "num_class", kMaxClasses, where);
  // Absent before 1.6.
  const bool has_targets = find_field(parameters, "num_target") != nullptr;
  const std::size_t targets = has_targets ? count_field(parameters, "num_target", kMaxClasses, where) : 1;
  if (targets > 1) {
    throw input_error(fmt::format("{}: the model has {} targets", where, targets),
                      "explain one target at a time: train a model for each, or serve one by process:CMD");
  }
  if (objective.transform == Transform::softmax) {
    if (classes < 2) throw input_error(fmt::format("{}: {} with {} classes", where, objective.name, classes));
    return classes;
  }
  if (classes > 1) {
    throw input_error(fmt::format("{}: {} with {} outputs is not supported", where, objective.name, classes));
  }
  return 1;
}

FileTree read_tree(const Value& tree, const std::string& where) {
  const Value& parameters = field(tree, "tree_param", where);
  if (count_field(parameters, "size_leaf_vector", kMaxClasses, where) > 1) {
    throw input_error(fmt::format("{}: trees with vectors as leaves are not supported", where),
                      "train with multi_strategy=\"one_output_per_tree\"");
  }
  const auto numbers = [&](std::string_view name) { return number_list(tree, name, where); };
  FileTree out{.left = numbers("left_children"),
               .right = numbers("right_children"),
               .feature = numbers("split_indices"),
               .threshold = numbers("split_conditions"),
               .default_left = numbers("default_left")};
  if (find_field(tree, "split_type") != nullptr) out.split_type = numbers("split_type");
  if (find_field(tree, "categories_nodes") != nullptr) {
    out.categories = numbers("categories");
    out.category_nodes = numbers("categories_nodes");
    out.category_segments = numbers("categories_segments");
    out.category_sizes = numbers("categories_sizes");
  }
  return out;
}

struct Booster {
  const Value* model;               // of the trees
  std::span<const double> weights;  // of each tree; empty: all 1
};

Booster find_booster(const Value& learner, const std::string& where) {
  const Value& booster = field(learner, "gradient_booster", where);
  const std::string& name = text_field(booster, "name", where);
  if (name == "gbtree") return {&field(booster, "model", where), {}};
  if (name == "dart") {
    return {&field(field(booster, "gbtree", where), "model", where),
            number_list(booster, "weight_drop", where)};
  }
  throw input_error(fmt::format("{}: booster {} is not supported", where, shown(name)),
                    "only trees are (gbtree and dart); a linear model can be served by process:CMD");
}

Forest read_forest(const Booster& booster, std::size_t width, std::vector<float> margins,
                   const std::string& where) {
  const std::size_t groups = margins.size();
  const auto trees = value_list(*booster.model, "trees", where);
  const auto tree_groups = number_list(*booster.model, "tree_info", where);
  // An untrained model; the owner itself then forgets to turn the base score into a margin.
  if (trees.empty()) throw input_error(fmt::format("{}: the model has no trees", where));
  if (tree_groups.size() != trees.size()) {
    throw input_error(
        fmt::format("{}: {} trees, but {} in tree_info", where, trees.size(), tree_groups.size()));
  }
  if (!booster.weights.empty() && booster.weights.size() != trees.size()) {
    throw input_error(
        fmt::format("{}: {} trees, but {} weights", where, trees.size(), booster.weights.size()));
  }
  Forest forest(width, std::move(margins));
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const std::string name = fmt::format("{}: tree {}", where, t);
    const double group = tree_groups[t];
    if (!(group >= 0 && group < static_cast<double>(groups) && group == std::floor(group))) {
      throw input_error(fmt::format("{}: belongs to output {} of {}", name, group, groups));
    }
    const float weight = booster.weights.empty() ? 1.0f : static_cast<float>(booster.weights[t]);
    if (!std::isfinite(weight)) throw input_error(fmt::format("{}: its weight is not a finite number", name));
    forest.add_tree(read_tree(trees[t], name), static_cast<std::size_t>(group), weight, name);
  }
  return forest;
}

std::vector<std::string> read_names(const Value& learner, std::size_t width, const std::string& where) {
  std::vector<std::string> names;
  if (find_field(learner, "feature_names") == nullptr) return names;
  for (const Value& value : value_list(learner, "feature_names", where)) {
    const auto* name = std::get_if<std::string>(&value.content);
    if (name == nullptr) throw input_error(fmt::format("{}: a feature name is not a text", where));
    names.push_back(*name);
  }
  if (!names.empty() && names.size() != width) {
    throw input_error(fmt::format("{}: {} feature names for {} features", where, names.size(), width));
  }
  return names;
}

void refuse_other_formats(const std::string& path, std::string_view content) {
  if (content.starts_with("binf") || content.starts_with("bs64")) {
    throw input_error(fmt::format("{}: the old binary format of XGBoost is not supported", path),
                      fmt::format("load it with the XGBoost that wrote it and {}", kSaveHint));
  }
  if (content.starts_with('[') || content.starts_with("booster[")) {
    throw input_error(fmt::format("{}: a dump of the trees, not a model", path), std::string(kSaveHint));
  }
}

}  // namespace
}  // namespace xgboost

bool looks_like_xgboost(std::string_view content) {
  const std::string_view head = content.substr(0, 4096);
  if (head.starts_with("binf") || head.starts_with("bs64") || head.starts_with("booster[0]:")) return true;
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (head[first] == '[') return head.find("\"nodeid\"") != std::string_view::npos;
  if (head[first] != '{') return false;
  const bool ubj = xgboost::encoding_of(head) == xgboost::Encoding::ubj;
  return head.find(ubj ? "learner" : "\"learner\"") != std::string_view::npos;
}

std::unique_ptr<Model> load_xgboost(const std::string& path, std::string_view content) {
  using namespace xgboost;
  const std::string_view whole = content;
  content.remove_prefix(std::min(content.find_first_not_of(" \t\r\n"), content.size()));
  refuse_other_formats(path, content);
  const Encoding encoding = encoding_of(content);
  const Value root = parse_document(content, encoding, path);
  const Value& learner = field(root, "learner", path);
  const Value& parameters = field(learner, "learner_model_param", path);
  const Booster booster = find_booster(learner, path);
  const Objective& objective =
      find_objective(text_field(field(learner, "objective", path), "name", path), path);

  ModelInfo info;
  info.path = path;
  info.format = encoding == Encoding::ubj ? "xgboost-ubj" : "xgboost-json";
  info.hash = content_hash(whole);
  info.objective = objective.name;
  info.task = objective.task;
  info.width = count_field(parameters, "num_feature", kMaxColumns, path);
  if (info.width == 0) throw input_error(fmt::format("{}: the model has no features", path));
  info.columns = read_names(learner, info.width, path);
  info.categories = read_categories(*booster.model, info.width, path);
  info.outputs = count_outputs(parameters, objective, path);
  Forest forest =
      read_forest(booster, info.width, base_margins(root, parameters, objective, info.outputs, path), path);
  return std::make_unique<XgboostModel>(std::move(info), objective.transform, std::move(forest));
}

}  // namespace hifi
