#include "model/lightgbm_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/hash.h"
#include "hifi/error.h"
#include "model/forest.h"
#include "model/lightgbm_categories.h"
#include "model/lightgbm_document.h"
#include "model/lightgbm_objective.h"

namespace hifi {

namespace lightgbm {
namespace {

constexpr std::size_t kMaxColumns = std::size_t{1} << 26;
constexpr std::size_t kMaxClasses = 1 << 16;
constexpr std::size_t kMaxLeaves = std::size_t{1} << 30;

class LightgbmModel : public Model, public TreeEnsemble {
 public:
  // `averaged`: by how many iterations the sums are divided; 0: not at all.
  LightgbmModel(ModelInfo info, Objective objective, Forest forest, std::size_t averaged)
      : info_(std::move(info)), objective_(objective), forest_(std::move(forest)), averaged_(averaged) {}

  const ModelInfo& info() const override { return info_; }

  void predict(std::span<const double> rows, std::size_t count, std::span<double> out) const override {
    if (rows.size() != count * info_.width || out.size() != count * info_.outputs) {
      throw Error(ErrorCode::bug, fmt::format("{}: predict() got arrays of the wrong size", info_.path));
    }
    forest_.predict(rows.data(), count, out.data());
    if (averaged_ != 0) {
      for (double& sum : out) sum /= static_cast<double>(averaged_);
    }
    convert(out);
  }

  Ensemble ensemble() const override {
    Ensemble ensemble = forest_.ensemble(averaged_ == 0 ? 1.0 : 1.0 / static_cast<double>(averaged_));
    ensemble.identity = objective_.conversion == Conversion::identity;
    return ensemble;
  }
  void decide(std::span<const double> rows, std::size_t count, std::span<std::uint8_t> right) const override {
    forest_.decide(rows.data(), count, right.data());
  }
  void transform(std::span<const double> margins, std::size_t count, std::span<double> out) const override {
    for (std::size_t g = 0; g < info_.outputs; ++g) {
      for (std::size_t r = 0; r < count; ++r) out[r * info_.outputs + g] = margins[g * count + r];
    }
    convert(out);
  }

 private:
  void convert(std::span<double> sums) const {
    for (std::size_t at = 0; at < sums.size(); at += info_.outputs) {
      convert_row(objective_, sums.subspan(at, info_.outputs));
    }
  }

  ModelInfo info_;
  Objective objective_;
  Forest forest_;
  std::size_t averaged_;
};

// decision_type: bit 0 categorical, bit 1 default left, bits 2 and 3 the missing values (none, zero, NaN).
Forest::Missing missing_of(std::int32_t decision, const std::string& where) {
  const bool left = (decision & 2) != 0;
  switch (decision >> 2 & 3) {
    case 0:
      return Forest::Missing::as_zero;
    case 1:
      return left ? Forest::Missing::zero_left : Forest::Missing::zero_right;
    case 2:
      return left ? Forest::Missing::left : Forest::Missing::right;
    default:
      throw input_error(fmt::format("{}: decision_type {} is unknown", where, decision));
  }
}

class CategorySets {
 public:
  CategorySets(const Section& tree, std::size_t count) : where_(tree.where()) {
    if (count == 0) return;
    bounds_ = tree.integers("cat_boundaries", count + 1);
    words_ = tree.words("cat_threshold");
  }
  std::span<const std::uint32_t> set(double index) const {
    const auto sets = static_cast<double>(bounds_.empty() ? 0 : bounds_.size() - 1);
    if (!(index >= 0 && index < sets && index == std::floor(index))) {
      throw input_error(fmt::format("{}: category set {} of {}", where_, index, sets));
    }
    const auto i = static_cast<std::size_t>(index);
    const std::int64_t first = bounds_[i];
    const std::int64_t end = bounds_[i + 1];
    if (first < 0 || end < first || end > static_cast<std::int64_t>(words_.size())) {
      throw input_error(fmt::format("{}: category set {} does not fit cat_threshold", where_, index));
    }
    return std::span(words_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
  }

 private:
  std::string where_;
  std::vector<std::int32_t> bounds_;
  std::vector<std::uint32_t> words_;
};

void add_tree(const Section& tree, std::uint32_t output, Forest& forest) {
  const std::string& where = tree.where();
  if (tree.has("is_linear") && tree.count("is_linear", 1) == 1) {
    throw input_error(fmt::format("{}: linear trees are not supported", where),
                      "train with linear_tree=false, or serve the model with process:CMD");
  }
  const std::size_t leaves = tree.count("num_leaves", kMaxLeaves);
  if (leaves == 0) throw input_error(fmt::format("{}: has no leaf", where));
  Forest::FileTree file;
  for (const double value : tree.numbers("leaf_value", leaves)) file.leaves.push_back({{output, value}});
  if (leaves > 1) {
    const std::size_t count = leaves - 1;
    const auto column = tree.integers("split_feature", count);
    const auto threshold = tree.numbers("threshold", count);
    const auto decision = tree.integers("decision_type", count);
    const auto left = tree.integers("left_child", count);
    const auto right = tree.integers("right_child", count);
    const CategorySets sets(tree, tree.count("num_cat", count));
    for (std::size_t i = 0; i < count; ++i) {
      if (column[i] < 0)
        throw input_error(fmt::format("{}: split {} asks for column {}", where, i, column[i]));
      Forest::Split split{.threshold = threshold[i],
                          .column = static_cast<std::uint32_t>(column[i]),
                          .left = left[i],
                          .right = right[i],
                          .missing = missing_of(decision[i], where)};
      if ((decision[i] & 1) != 0) {
        const auto words = sets.set(threshold[i]);
        split.rule = Forest::Rule::in_bits;
        split.set_first = forest.add_bits(words);
        split.set_size = static_cast<std::uint32_t>(words.size());
      } else if (std::isnan(threshold[i])) {
        throw input_error(fmt::format("{}: the threshold of split {} is not a number", where, i));
      }
      file.splits.push_back(split);
    }
  }
  forest.add_tree(std::move(file), where);
}

// Columns that the owner named itself count as none.
std::vector<std::string> read_names(const Section& header, std::size_t width) {
  std::vector<std::string> names;
  for (const std::string_view name : split(header.text("feature_names"), ' ')) names.emplace_back(name);
  if (names.size() != width) {
    throw input_error(
        fmt::format("{}: {} feature names for {} features", header.where(), names.size(), width));
  }
  for (std::size_t i = 0; i < width; ++i) {
    if (names[i] != fmt::format("Column_{}", i)) return names;
  }
  return {};
}

void check_version(const Section& header) {
  const std::string_view version = header.text("version");
  if (version == "v2" || version == "v3" || version == "v4") return;
  throw input_error(fmt::format("{}: LightGBM format {} is not known", header.where(), shown(version)),
                    "known are v2, v3 and v4; serve the model with process:CMD instead");
}

}  // namespace
}  // namespace lightgbm

bool looks_like_lightgbm(std::string_view content) {
  const std::string_view head = content.substr(0, 4096);
  return (head.starts_with("tree\n") || head.starts_with("tree\r\n")) &&
         (head.find("\nversion=") != std::string_view::npos ||
          head.find("\nnum_class=") != std::string_view::npos || content.size() < 200);
}

std::unique_ptr<Model> load_lightgbm(const std::string& path, std::string_view content) {
  using namespace lightgbm;
  const Document document = parse_document(content, path);
  const Section& header = document.header;
  check_version(header);
  const Objective objective = find_objective(header);

  ModelInfo info;
  info.path = path;
  info.format = "lightgbm";
  info.hash = hex_hash(content);
  info.objective = objective.name;
  info.task = objective.task;
  info.width = header.count("max_feature_idx", kMaxColumns) + 1;
  info.columns = read_names(header, info.width);
  info.categories = read_categories(document, info.width);
  info.outputs = header.count("num_tree_per_iteration", kMaxClasses);
  info.tie_tolerance = 1e-9;
  const std::size_t trees = document.trees.size();
  if (trees == 0) throw input_error(fmt::format("{}: the model has no trees", path));
  if (info.outputs == 0 || trees % info.outputs != 0) {
    throw input_error(fmt::format("{}: {} trees for {} outputs", path, trees, info.outputs));
  }
  check_outputs(objective, info.outputs, header);
  Forest forest(info.width, std::vector<double>(info.outputs), Precision::twofold_tiny_is_zero);
  for (std::size_t t = 0; t < trees; ++t) {
    lightgbm::add_tree(document.trees[t], static_cast<std::uint32_t>(t % info.outputs), forest);
  }
  const std::size_t averaged = header.has("average_output") ? trees / info.outputs : 0;
  return std::make_unique<LightgbmModel>(std::move(info), objective, std::move(forest), averaged);
}

}  // namespace hifi
