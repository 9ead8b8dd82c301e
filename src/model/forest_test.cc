#include "model/forest.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "hifi/error.h"

namespace hifi {
namespace {

using Rule = Forest::Rule;
using Missing = Forest::Missing;

// One split of column 0: left is 1, right is 2.
double answer(Forest::Split split, double value, Precision precision = Precision::twofold) {
  Forest forest(1, {0}, precision);
  constexpr std::array<std::uint32_t, 2> kBits = {0b101, 0b10};  // 0, 2, 33
  split.left = -1;
  split.right = -2;
  if (split.rule == Rule::in_bits) {
    split.set_first = forest.add_bits(kBits);
    split.set_size = 2;
  }
  if (split.rule == Rule::among) {
    split.set_first = forest.add_list({7, -1.5, 2});
    split.set_size = 3;
  }
  forest.add_tree({{split}, {{{0, 1}}, {{0, 2}}}}, "tree");
  double sum = 0;
  forest.predict(&value, 1, &sum);
  std::array<std::uint8_t, TreeEnsemble::kRows> right{};
  forest.decide(&value, 1, right.data());
  EXPECT_EQ(sum, right[0] != 0 ? 2 : 1);
  return sum;
}

const double kNan = std::nan("");

TEST(Forest, Rules) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(answer({.threshold = 0.5}, 0.5), 1);
  EXPECT_EQ(answer({.threshold = 0.5}, std::nextafter(0.5, 1)), 2);
  EXPECT_EQ(answer({.threshold = 0.5}, -inf), 1);
  EXPECT_EQ(answer({.threshold = 3, .rule = Rule::equal}, 3), 1);
  EXPECT_EQ(answer({.threshold = 3, .rule = Rule::equal}, 2), 2);
  for (const double in : {7.0, -1.5, 2.0}) EXPECT_EQ(answer({.rule = Rule::among}, in), 1);
  for (const double out : {7.1, 0.0, inf}) EXPECT_EQ(answer({.rule = Rule::among}, out), 2);
  for (const double in : {0.0, -0.5, 0.9, 2.0, 33.0}) EXPECT_EQ(answer({.rule = Rule::in_bits}, in), 1) << in;
  for (const double out : {1.0, -1.0, 32.0, 64.0, 1e10, 4294967296.0, inf, -inf, kNan}) {
    EXPECT_EQ(answer({.rule = Rule::in_bits}, out), 2) << out;
  }
}

TEST(Forest, MissingValues) {
  EXPECT_EQ(answer({.missing = Missing::left}, kNan), 1);
  EXPECT_EQ(answer({.missing = Missing::right}, kNan), 2);
  EXPECT_EQ(answer({.threshold = 0, .missing = Missing::as_zero}, kNan), 1);
  EXPECT_EQ(answer({.threshold = -1, .missing = Missing::as_zero}, kNan), 2);
  for (const double none : {kNan, 0.0, -0.0, 1e-36}) {
    EXPECT_EQ(answer({.threshold = -1, .missing = Missing::zero_left}, none), 1);
    EXPECT_EQ(answer({.threshold = 1, .missing = Missing::zero_right}, none), 2);
  }
  EXPECT_EQ(answer({.threshold = 1, .missing = Missing::zero_right}, 1e-34), 1);
}

TEST(Forest, TinyInputsAreZeroForLightgbm) {
  EXPECT_EQ(answer({.threshold = -1e-36}, -1e-36, Precision::twofold), 1);
  EXPECT_EQ(answer({.threshold = -1e-36}, -1e-36, Precision::twofold_tiny_is_zero), 2);
}

// A tree whose leaves have values for some of three outputs: ensemble() and decide() give the same sums.
TEST(Forest, EnsembleOfSeveralOutputs) {
  Forest forest(2, {0, 0, 0}, Precision::twofold);
  forest.add_tree({{{.threshold = 0, .column = 0, .left = 1, .right = -1},
                    {.threshold = 1, .column = 1, .left = -2, .right = -3}},
                   {{{0, 1}, {2, 4}}, {{2, 8}}, {}}},
                  "a");
  forest.add_tree({{}, {{{1, 5}}}}, "b");
  const Ensemble ensemble = forest.ensemble(0.5);
  ASSERT_EQ(ensemble.trees.size(), 3U);
  const std::array<double, 6> rows = {-1, 0, -1, 2, 1, 0};
  std::array<double, 9> sums{};
  forest.predict(rows.data(), 3, sums.data());
  EXPECT_EQ(sums, (std::array<double, 9>{0, 5, 8, 0, 5, 0, 1, 5, 4}));
  std::array<std::uint8_t, 4 * TreeEnsemble::kRows> right{};
  forest.decide(rows.data(), 3, right.data());
  for (std::size_t r = 0; r < 3; ++r) {
    std::array<double, 3> found{};
    std::size_t first = 0;
    for (const EnsembleTree& tree : ensemble.trees) {
      std::int32_t at = tree.splits.empty() ? -1 : 0;
      while (at >= 0) {
        const auto& split = tree.splits[static_cast<std::size_t>(at)];
        const bool to_right = right[(first + static_cast<std::size_t>(at)) * TreeEnsemble::kRows + r] != 0;
        at = to_right ? split.right : split.left;
      }
      found[tree.output] += tree.leaves[static_cast<std::size_t>(-(at + 1))];
      first += tree.splits.size();
    }
    for (std::size_t g = 0; g < 3; ++g) EXPECT_EQ(found[g], sums[r * 3 + g] / 2);
  }
}

TEST(Forest, LeastAndGreatest) {
  for (const Aggregate aggregate : {Aggregate::least, Aggregate::greatest}) {
    Forest forest(1, {0}, Precision::single, aggregate);
    for (const double leaf : {3.0, -2.0, 5.0}) forest.add_tree({{}, {{{0, leaf}}}}, "t");
    const double row = 0;
    double sum = 0;
    forest.predict(&row, 1, &sum);
    EXPECT_EQ(sum, aggregate == Aggregate::least ? -2 : 5);
  }
}

TEST(Forest, RefusesTreesThatLie) {
  const auto refused = [](Forest::FileTree tree) {
    Forest forest(2, {0}, Precision::twofold);
    EXPECT_THROW(forest.add_tree(std::move(tree), "t"), Error);
  };
  const std::vector<std::vector<Forest::LeafValue>> leaves = {{{0, 1}}, {{0, 2}}};
  refused({{}, {}});
  refused({{{.left = 0, .right = -1}}, leaves});   // a cycle
  refused({{{.left = -1, .right = -1}}, leaves});  // a leaf twice
  refused({{{.left = 1, .right = -1}}, leaves});   // no such split
  refused({{{.left = -1, .right = -3}}, leaves});  // no such leaf
  refused({{{.left = std::numeric_limits<std::int32_t>::min(), .right = -1}}, leaves});
  refused({{{.column = 2, .left = -1, .right = -2}}, leaves});
  refused({{}, {{{1, 1}}}});
  refused({{}, {{{0, kNan}}}});
}

}  // namespace
}  // namespace hifi
