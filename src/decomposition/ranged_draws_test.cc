#include "decomposition/ranged_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/random.h"
#include "vocabulary/test_plan.h"

namespace hifi {
namespace {

constexpr std::size_t kPlayers = 3;
constexpr std::size_t kSlices = 4;

RunPlan paper_plan(std::uint64_t ranges) {
  RunPlan plan = test_plan();
  plan.policy = "paper";
  plan.paper = {.evaluations = 1000, .range_draws = 8, .ranges = ranges, .slices = kSlices};
  return plan;
}

// The slices of a coalition on a range: a pure function, so that the same draws have the same losses.
std::vector<double> slices_of(std::uint64_t mask, std::uint64_t range) {
  RandomStream random(mask, Purpose::probe, static_cast<std::uint32_t>(range));
  std::vector<double> slices;
  for (std::size_t s = 0; s < kSlices; ++s) slices.push_back(random.normal() + static_cast<double>(mask));
  return slices;
}

Visit visit_of(std::uint64_t mask, std::uint64_t range, std::uint64_t ranges) {
  return {.coalition = Coalition::from_mask(kPlayers, mask),
          .range = range,
          .slices = slices_of(mask, range % ranges)};
}

struct Reference {
  double count = 0, mean = 0, error = 0;
};

Reference summary(const std::vector<double>& units) {
  Reference r{.count = static_cast<double>(units.size())};
  for (const double x : units) r.mean += x / r.count;
  for (const double x : units) r.error += (x - r.mean) * (x - r.mean) / (r.count - 1) / r.count;
  r.error = std::sqrt(r.error);
  return r;
}

// By definition: the signed sum of the slices on every different range that all corners were visited on.
Reference reference(const std::vector<Visit>& visits,
                    const std::vector<std::pair<std::uint64_t, double>>& corners, std::uint64_t ranges) {
  std::vector<double> units;
  for (std::uint64_t range = 0; range < ranges; ++range) {
    std::vector<double> sum(kSlices);
    bool all = true;
    for (const auto& [mask, sign] : corners) {
      bool seen = false;
      for (const Visit& visit : visits) {
        if (visit.is_side() || visit.coalition.mask() != mask || visit.range % ranges != range || seen)
          continue;
        seen = true;
        for (std::size_t s = 0; s < kSlices; ++s) sum[s] += sign * visit.slices[s];
      }
      all = all && seen;
    }
    if (all) units.insert(units.end(), sum.begin(), sum.end());
  }
  return summary(units);
}

std::uint32_t place(const RangedDraws& draws, std::uint64_t mask) {
  const auto& list = draws.coalitions();
  return static_cast<std::uint32_t>(
      std::find(list.begin(), list.end(), Coalition::from_mask(kPlayers, mask)) - list.begin());
}

void expect_number(const std::optional<CellNumbers::Number>& found, const Reference& expected) {
  ASSERT_EQ(found.has_value(), expected.count > 0);
  if (!found) return;
  EXPECT_NEAR(found->value, expected.mean, 1e-12);
  EXPECT_NEAR(found->error, expected.error, 1e-12);
}

// Ranges that do not wrap around, and ranges that do: the same draws again are no news, but can be compared.
TEST(RangedDraws, DifferencesAreTakenOnCommonRangesOnly) {
  for (const std::uint64_t ranges : {100U, 12U, 3U}) {
    RandomStream random(ranges, Purpose::probe);
    std::vector<Visit> visits;
    for (std::uint64_t mask = 0; mask < 8; ++mask) visits.push_back(visit_of(mask, 0, ranges));
    if (ranges > 50) visits.erase(visits.begin() + 5);  // one coalition has nothing in common with {}
    for (std::uint64_t range = 1; range < 30; ++range) {
      for (std::uint64_t mask = 0; mask < 8; ++mask) {
        if (random.below(3) == 0) visits.push_back(visit_of(mask, range, ranges));
      }
    }
    const RunPlan plan = paper_plan(ranges);
    const RangedDraws draws(visits, plan);
    ASSERT_EQ(draws.coalitions().size(), 8U);
    for (std::uint64_t c = 0; c < 8; ++c) {
      EXPECT_NEAR(draws.means()[place(draws, c)], reference(visits, {{c, 1}}, ranges).mean, 1e-12);
      for (std::uint64_t i = 1; i < 8; i *= 2) {
        if ((c & i) != 0) continue;
        const auto gain = Corners::gain(place(draws, c), place(draws, c | i));
        expect_number(draws.number(gain), reference(visits, {{c, 1}, {c | i, -1}}, ranges));
        for (std::uint64_t j = 2 * i; j < 8; j *= 2) {
          if ((c & j) != 0) continue;
          const auto diamond = Corners::diamond(place(draws, c), place(draws, c | i), place(draws, c | j),
                                                place(draws, c | i | j));
          expect_number(draws.number(diamond),
                        reference(visits, {{c, -1}, {c | i, 1}, {c | j, 1}, {c | i | j, -1}}, ranges));
        }
      }
    }
  }
}

TEST(RangedDraws, CoalitionsThatShareNoRangeAreNotCompared) {
  const std::vector<Visit> visits{visit_of(0, 0, 100), visit_of(1, 1, 100), visit_of(3, 0, 100)};
  const RunPlan plan = paper_plan(100);
  const RangedDraws draws(visits, plan);
  EXPECT_FALSE(draws.number(Corners::gain(0, 1)));
  EXPECT_FALSE(draws.gain(1, 2));
  EXPECT_EQ(draws.fewest_draws(), 8U);
}

TEST(RangedDraws, WhereAllPairsAreOneRangeEverythingIsCompared) {
  RunPlan plan = paper_plan(1);
  plan.exact = true;
  const std::vector<Visit> visits{visit_of(0, 0, 1), visit_of(1, 7, 1), visit_of(0, 9, 1)};
  const RangedDraws draws(visits, plan);
  EXPECT_EQ(draws.kind(), Noise::Kind::none);
  expect_number(draws.number(Corners::gain(0, 1)), reference(visits, {{0, 1}, {1, -1}}, 1));
  EXPECT_EQ(draws.fewest_draws(), 8U);
}

// A side diamond has corners of its own: independent, for its pair alone, one cell per (pair, coalition).
TEST(RangedDraws, SideCellsServeTheirPairAlone) {
  std::vector<Visit> visits{visit_of(0, 0, 1000), visit_of(1, 0, 1000), visit_of(2, 0, 1000),
                            visit_of(3, 0, 1000)};
  std::uint64_t range = 10;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const std::uint64_t mask : {0U, 1U, 2U, 3U}) {
      visits.push_back(visit_of(mask, range++, 1000));
      visits.back().first = 0;
      visits.back().second = 1;
    }
  }
  const RunPlan plan = paper_plan(1000);
  const RangedDraws draws(visits, plan);
  EXPECT_EQ(draws.coalitions().size(), 4U);
  const std::vector<Visit> shared(visits.begin(), visits.begin() + 4);
  expect_number(draws.number(Corners::gain(0, 1)), reference(shared, {{0, 1}, {1, -1}}, 1000));
  ASSERT_EQ(draws.side_diamonds().size(), 1U);
  const auto& [pair, diamonds] = *draws.side_diamonds().begin();
  EXPECT_EQ(pair, (std::pair<std::uint32_t, std::uint32_t>(0, 1)));
  ASSERT_EQ(diamonds.size(), 1U) << "the context was drawn three times: one cell";
  EXPECT_EQ(draws.side_context(diamonds[0]), Coalition(kPlayers));
  double mean = 0, variance = 0;
  for (const std::uint64_t mask : {0U, 1U, 2U, 3U}) {
    std::vector<double> units;
    for (const Visit& visit : visits) {
      if (visit.is_side() && visit.coalition.mask() == mask)
        units.insert(units.end(), visit.slices.begin(), visit.slices.end());
    }
    const Reference corner = summary(units);
    EXPECT_EQ(corner.count, 12);
    mean += (mask == 1 || mask == 2 ? 1 : -1) * corner.mean;
    variance += corner.error * corner.error;
  }
  const auto number = draws.number(diamonds[0]);
  EXPECT_NEAR(number->value, mean, 1e-12);
  EXPECT_NEAR(number->error, std::sqrt(variance), 1e-12);
}

}  // namespace
}  // namespace hifi
