#include "experiments/verify.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "hifi/error.h"
#include "indices/indices.h"

namespace hifi {
namespace {

std::size_t failures(const Machinery& machinery, const std::string& theorem) {
  Workers workers(1);
  std::size_t count = 0;
  for (const Check& check : verify({theorem}, machinery, workers)) count += check.pass() ? 0 : 1;
  return count;
}

TEST(Verify, EveryCheckHolds) {
  Workers workers;
  for (const Check& check : verify({}, our_machinery(), workers))
    EXPECT_TRUE(check.pass()) << check.theorem << " " << check.name << ": expected " << check.expected
                              << " found " << check.found;
}

TEST(Verify, SeesAWrongSignOfDelta) {
  Machinery broken = our_machinery();
  broken.mixed_difference = [](std::span<const double, 4> c) { return c[3] + c[0] - c[1] - c[2]; };
  EXPECT_GT(failures(broken, "T3"), 0U);
  broken = our_machinery();
  broken.decompose = [](std::size_t players, std::span<const double> losses) {
    ScanResult scan = our_machinery().decompose(players, losses);
    for (PairProfile& pair : scan.pairs) std::swap(pair.S.value, pair.R.value);
    return scan;
  };
  EXPECT_GT(failures(broken, "T1"), 0U);
}

TEST(Verify, SeesMaxInPlaceOfMin) {
  Machinery broken = our_machinery();
  broken.decompose = [](std::size_t players, std::span<const double> losses) {
    ScanResult scan = our_machinery().decompose(players, losses);
    for (FeatureProfile& f : scan.features) {
      f.U = f.Lmax;
      f.R.value = *f.pi.value - *f.U.value;
    }
    return scan;
  };
  EXPECT_GT(failures(broken, "T1"), 0U);
  EXPECT_GT(failures(broken, "P"), 0U);
  EXPECT_GT(failures(broken, "T4"), 0U);
}

// Weighted least squares over all coalitions by iteration, {} and the full set with a weight of 1 like any
// other: what FSII becomes when its two constraints are dropped.
std::vector<double> unconstrained_fit(std::size_t players, std::size_t order,
                                      std::span<const double> losses) {
  const auto sets = sets_up_to(players, order);
  std::vector<std::size_t> masks;
  for (const auto& set : sets) {
    std::size_t mask = 0;
    for (const std::uint32_t i : set) mask |= std::size_t{1} << i;
    masks.push_back(mask);
  }
  std::vector<double> beta(masks.size(), 0.0);
  for (int sweep = 0; sweep < 2000; ++sweep) {  // Gauss-Seidel on the normal equations
    for (std::size_t k = 0; k < masks.size(); ++k) {
      double sum = 0, weight = 0;
      for (std::size_t w = 0; w < losses.size(); ++w) {
        if ((masks[k] & ~w) != 0) continue;
        double residual = -losses[w] + losses[0];
        for (std::size_t l = 0; l < masks.size(); ++l)
          if (l != k && (masks[l] & ~w) == 0) residual -= beta[l];
        sum += residual;
        weight += 1;
      }
      beta[k] = sum / weight;
    }
  }
  return beta;
}

TEST(Verify, SeesDroppedConstraints) {
  Machinery broken = our_machinery();
  broken.index = [](IndexKind kind, std::size_t players, std::size_t order, std::span<const double> losses) {
    return kind == IndexKind::faithful ? unconstrained_fit(players, order, losses)
                                       : our_machinery().index(kind, players, order, losses);
  };
  EXPECT_GT(failures(broken, "T1"), 0U);
}

TEST(Verify, ANumberThatIsNoneFails) {
  EXPECT_FALSE((Check{.expected = 0, .found = std::nan(""), .tolerance = 1}).pass());
  EXPECT_TRUE((Check{.expected = 1, .found = 2, .relation = Relation::at_least}).pass());
  EXPECT_FALSE((Check{.expected = 1, .found = 2, .relation = Relation::at_most}).pass());
}

TEST(Verify, KnowsItsTheorems) {
  Workers workers(1);
  EXPECT_THROW(verify({"T5"}, our_machinery(), workers), Error);
  for (const Check& check : verify({"T1"}, our_machinery(), workers)) EXPECT_EQ(check.theorem, "T1");
}

}  // namespace
}  // namespace hifi
