#include "model/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hifi/error.h"

namespace hifi {

namespace {

constexpr double kZero = 1e-35F;  // what LightGBM takes for zero
constexpr std::size_t kMaxNodes = std::size_t{1} << 30;

// Splits in the order of a walk level by level, so that children come behind their parents.
struct Order {
  std::vector<std::size_t> splits;     // of the file
  std::vector<std::int32_t> position;  // of a split of the file in `splits`
  unsigned depth = 0;
};

Order order_splits(const Forest::FileTree& tree, const std::string& where) {
  const std::size_t count = tree.splits.size();
  Order order{.splits = {0}, .position = std::vector<std::int32_t>(count, -1)};
  order.position[0] = 0;
  std::vector<bool> leaf_seen(tree.leaves.size());
  std::size_t level_end = 1;
  for (std::size_t i = 0; i < order.splits.size(); ++i) {
    if (i == level_end) {
      ++order.depth;
      level_end = order.splits.size();
    }
    const std::size_t split = order.splits[i];
    for (const std::int32_t child : {tree.splits[split].left, tree.splits[split].right}) {
      const bool leaf = child < 0;
      const auto index = static_cast<std::size_t>(leaf ? -(child + 1) : child);
      if (index >= (leaf ? tree.leaves.size() : count)) {
        throw input_error(fmt::format("{}: split {} has a child that does not exist", where, split));
      }
      if (leaf ? leaf_seen[index] : order.position[index] >= 0) {
        throw input_error(fmt::format("{}: a child of split {} has two parents", where, split));
      }
      if (leaf) {
        leaf_seen[index] = true;
        continue;
      }
      order.position[index] = static_cast<std::int32_t>(order.splits.size());
      order.splits.push_back(index);
    }
  }
  ++order.depth;
  return order;
}

}  // namespace

Forest::Forest(std::size_t width, std::vector<double> base, Precision precision, Aggregate aggregate)
    : width_(width), base_(std::move(base)), precision_(precision), aggregate_(aggregate), leaf_begin_{0} {}

std::uint32_t Forest::add_bits(std::span<const std::uint32_t> words) {
  const auto first = static_cast<std::uint32_t>(bits_.size());
  bits_.insert(bits_.end(), words.begin(), words.end());
  return first;
}

std::uint32_t Forest::add_list(std::vector<double> members) {
  std::erase_if(members, [](double member) { return std::isnan(member); });
  std::sort(members.begin(), members.end());
  const auto first = static_cast<std::uint32_t>(list_.size());
  list_.insert(list_.end(), members.begin(), members.end());
  return first;
}

void Forest::add_tree(FileTree file, const std::string& where) {
  if (file.leaves.empty() || file.leaves.size() > kMaxNodes || file.splits.size() > kMaxNodes) {
    throw input_error(
        fmt::format("{}: {} splits and {} leaves", where, file.splits.size(), file.leaves.size()));
  }
  Tree tree{.first_split = splits_.size(), .first_leaf = leaf_begin_.size() - 1, .simple = true, .depth = 0};
  if (!file.splits.empty()) {
    const Order order = order_splits(file, where);
    tree.depth = order.depth;
    for (const std::size_t from : order.splits) {
      Split split = file.splits[from];
      if (split.column >= width_) {
        throw input_error(
            fmt::format("{}: split {} asks for column {} of {}", where, from, split.column, width_));
      }
      if (split.left >= 0) split.left = order.position[static_cast<std::size_t>(split.left)];
      if (split.right >= 0) split.right = order.position[static_cast<std::size_t>(split.right)];
      tree.simple &= split.rule == Rule::at_most && split.missing != Missing::zero_left &&
                     split.missing != Missing::zero_right;
      splits_.push_back(split);
    }
  }
  tree.splits = splits_.size() - tree.first_split;
  tree.leaves = file.leaves.size();
  for (const auto& values : file.leaves) {
    for (const LeafValue& value : values) {
      if (value.output >= base_.size()) {
        throw input_error(fmt::format("{}: a leaf for output {} of {}", where, value.output, base_.size()));
      }
      if (!std::isfinite(value.value))
        throw input_error(fmt::format("{}: a leaf is not a finite number", where));
      leaf_values_.push_back(value);
      tree.outputs.push_back(value.output);
    }
    leaf_begin_.push_back(leaf_values_.size());
  }
  std::sort(tree.outputs.begin(), tree.outputs.end());
  tree.outputs.erase(std::unique(tree.outputs.begin(), tree.outputs.end()), tree.outputs.end());
  trees_.push_back(std::move(tree));
}

double Forest::rounded(double value) const {
  return precision_ == Precision::single ? static_cast<double>(static_cast<float>(value)) : value;
}

double Forest::input(double value) const {
  return precision_ == Precision::twofold_tiny_is_zero && std::fabs(value) <= kZero ? 0 : value;
}

bool Forest::goes_left(const Split& split, double value) const {
  if (split.rule == Rule::in_bits) {
    constexpr double kLimit = 2147483648.0;  // what does not fit an int is in no set
    if (!(value > -1 && value < kLimit)) return false;
    const auto code = static_cast<std::size_t>(value);
    return code / 32 < split.set_size && (bits_[split.set_first + code / 32] >> (code % 32) & 1U) != 0;
  }
  bool missing = std::isnan(value);
  if (missing && split.missing == Missing::as_zero) {
    value = 0;
    missing = false;
  }
  if (split.missing == Missing::zero_left || split.missing == Missing::zero_right) {
    missing |= std::fabs(value) <= kZero;
  }
  if (missing) return split.missing == Missing::left || split.missing == Missing::zero_left;
  if (split.rule == Rule::equal) return value == split.threshold;
  if (split.rule == Rule::among) {
    const double* first = list_.data() + split.set_first;
    return std::binary_search(first, first + split.set_size, value);
  }
  return value <= split.threshold;
}

std::size_t Forest::leaf_of(const Tree& tree, const double* row) const {
  if (tree.splits == 0) return tree.first_leaf;
  const Split* splits = splits_.data() + tree.first_split;
  std::int32_t at = 0;
  while (at >= 0) {
    const Split& split = splits[at];
    at = goes_left(split, row[split.column]) ? split.left : split.right;
  }
  return tree.first_leaf + static_cast<std::size_t>(-(at + 1));
}

// Rows of a block walk side by side: their loads overlap. REQUIRES: simple, no value is missing.
void Forest::leaves_of(const Tree& tree, const double* rows, std::size_t count, std::uint32_t* leaves) const {
  const Split* splits = splits_.data() + tree.first_split;
  std::int32_t at[kLanes] = {};
  for (unsigned level = 0; level < tree.depth; ++level) {
    bool inside = false;
    for (std::size_t lane = 0; lane < count; ++lane) {
      if (at[lane] < 0) continue;
      const Split& split = splits[at[lane]];
      at[lane] = rows[lane * width_ + split.column] <= split.threshold ? split.left : split.right;
      inside |= at[lane] >= 0;
    }
    if (!inside) break;
  }
  for (std::size_t lane = 0; lane < count; ++lane) leaves[lane] = static_cast<std::uint32_t>(-(at[lane] + 1));
}

void Forest::add_leaf(std::size_t leaf, double* sums, std::uint8_t* seen) const {
  for (std::size_t v = leaf_begin_[leaf]; v < leaf_begin_[leaf + 1]; ++v) {
    const LeafValue& value = leaf_values_[v];
    double& sum = sums[value.output];
    switch (aggregate_) {
      case Aggregate::sum:
        sum = rounded(sum + value.value);
        break;
      case Aggregate::least:
        sum = seen[value.output] != 0 ? std::min(sum, value.value) : value.value;
        break;
      case Aggregate::greatest:
        sum = seen[value.output] != 0 ? std::max(sum, value.value) : value.value;
        break;
    }
    seen[value.output] = 1;
  }
}

void Forest::predict(const double* rows, std::size_t count, double* sums) const {
  const std::size_t outputs = base_.size();
  std::vector<double> block(kLanes * width_);
  std::vector<std::uint8_t> seen(kLanes * outputs);
  for (std::size_t first = 0; first < count; first += kLanes) {
    const std::size_t lanes = std::min(kLanes, count - first);
    bool missing = false;
    for (std::size_t i = 0; i < lanes * width_; ++i) {
      block[i] = input(rows[first * width_ + i]);
      missing |= std::isnan(block[i]);
    }
    std::fill(seen.begin(), seen.end(), 0);
    double* to = sums + first * outputs;
    for (std::size_t r = 0; r < lanes; ++r) std::copy(base_.begin(), base_.end(), to + r * outputs);
    for (const Tree& tree : trees_) {
      std::uint32_t leaves[kLanes] = {};
      if (tree.simple && !missing && tree.splits != 0) {
        leaves_of(tree, block.data(), lanes, leaves);
      } else {
        for (std::size_t r = 0; r < lanes; ++r) {
          leaves[r] = static_cast<std::uint32_t>(leaf_of(tree, block.data() + r * width_) - tree.first_leaf);
        }
      }
      for (std::size_t r = 0; r < lanes; ++r) {
        add_leaf(tree.first_leaf + leaves[r], to + r * outputs, seen.data() + r * outputs);
      }
    }
  }
}

Ensemble Forest::ensemble(double share) const {
  Ensemble result{.base = base_};
  for (const Tree& tree : trees_) {
    for (const std::uint32_t output : tree.outputs) {
      EnsembleTree one{.leaves = std::vector<double>(tree.leaves), .output = output};
      for (std::size_t s = 0; s < tree.splits; ++s) {
        const Split& split = splits_[tree.first_split + s];
        one.splits.push_back({.column = split.column, .left = split.left, .right = split.right});
      }
      for (std::size_t k = 0; k < tree.leaves; ++k) {
        const std::size_t leaf = tree.first_leaf + k;
        for (std::size_t v = leaf_begin_[leaf]; v < leaf_begin_[leaf + 1]; ++v) {
          if (leaf_values_[v].output == output) one.leaves[k] += leaf_values_[v].value * share;
        }
      }
      result.trees.push_back(std::move(one));
    }
  }
  return result;
}

void Forest::decide(const double* rows, std::size_t count, std::uint8_t* right) const {
  constexpr std::size_t kRows = TreeEnsemble::kRows;
  for (const Tree& tree : trees_) {
    std::uint8_t* begin = right;
    for (std::size_t s = 0; s < tree.splits; ++s, right += kRows) {
      const Split& split = splits_[tree.first_split + s];
      for (std::size_t r = 0; r < count; ++r) {
        right[r] = !goes_left(split, input(rows[r * width_ + split.column]));
      }
    }
    const std::size_t bytes = tree.splits * kRows;
    if (tree.outputs.empty()) right = begin;  // ensemble() has no such tree
    for (std::size_t copy = 1; copy < tree.outputs.size(); ++copy, right += bytes) {
      std::copy_n(begin, bytes, right);
    }
  }
}

}  // namespace hifi
