#include "sampling/budget.h"

#include <gtest/gtest.h>

#include "core/test_folder.h"
#include "sampling/exhaustive.h"
#include "vocabulary/lattice.h"

namespace hifi {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 50;

Budget of(std::size_t players, std::uint64_t instances, std::uint64_t rows, std::uint64_t evaluations) {
  return {.players = players,
          .instances = instances,
          .background_rows = rows,
          .evaluations = evaluations,
          .max_memory = kPlenty};
}

TEST(Budget, DrawsAreWhatTheBudgetPaysForUpToAllPairs) {
  EXPECT_EQ(choose_draws(of(4, 50, 50, 16 * 100)).draws, 100U);
  EXPECT_EQ(choose_draws(of(4, 50, 50, 16 * 100 + 15)).draws, 100U);
  EXPECT_EQ(choose_draws(of(4, 50, 50, 16 * 2500)).draws, 2500U);
  EXPECT_EQ(choose_draws(of(4, 50, 50, UINT64_MAX)).draws, 2500U);
  EXPECT_EQ(choose_draws(of(4, 3, 3, 16 * 9)).draws, 9U);
}

TEST(Budget, ExactIsAllPairsWhateverTheBudget) {
  Budget budget = of(4, 50, 60, 1);
  budget.exact = true;
  EXPECT_EQ(choose_draws(budget).draws, 3000U);
}

TEST(Budget, TooSmallNamesTheMinimum) {
  EXPECT_EQ(choose_draws(of(4, 50, 50, 16 * 32)).draws, 32U);
  EXPECT_TRUE(
      contains(error_of([] { choose_draws(of(4, 50, 50, 16 * 32 - 1)); }),
               "a budget of 511 evaluations is too small for 4 players: 2^4 coalitions x 32 draws need 512"));
  EXPECT_EQ(choose_draws(of(4, 3, 3, 16 * 9)).draws, 9U) << "nine pairs are all there is";
  EXPECT_NE(error_of([] { choose_draws(of(4, 3, 3, 16 * 9 - 1)); }), "no error");
  EXPECT_NE(error_of([] { choose_draws(of(4, 50, 50, 0)); }), "no error");
}

TEST(Budget, MorePlayersThanCanBeEnumerated) {
  Budget budget = of(25, 10, 10, kPlenty);
  EXPECT_TRUE(contains(error_of([&] { choose_draws(budget); }), "25 players are too many"));
  budget.exact = true;
  const std::string message = error_of([&] { choose_draws(budget); });
  EXPECT_TRUE(contains(message, "25 players are too many for --exact")) << message;
  EXPECT_TRUE(contains(message, "3.36e+09 evaluations")) << message;
  EXPECT_TRUE(contains(message, "GB of memory")) << message;
  budget.players = 4096;
  EXPECT_LT(error_of([&] { choose_draws(budget); }).size(), 300U);
  budget.exact = false;
  EXPECT_LT(error_of([&] { choose_draws(budget); }).size(), 300U);
  budget.players = 24;
  EXPECT_EQ(choose_draws(budget).draws, 100U);
}

TEST(Budget, ShortMemoryTakesFewerBlocksThenNone) {
  Budget budget = of(20, 100, 100, kPlenty);
  budget.exact = true;
  budget.table_bytes = 12345;
  const auto bytes = [&](std::size_t blocks) {
    return (std::uint64_t{8} << 20) * lattice_arrays(blocks, blocks, 0) + 16 * kUnitEvaluations + 12345;
  };
  for (const std::size_t blocks : {32U, 16U, 8U}) {
    budget.max_memory = bytes(blocks);
    EXPECT_EQ(choose_draws(budget).blocks, blocks);
    EXPECT_EQ(choose_draws(budget).memory_bytes, bytes(blocks));
    EXPECT_EQ(choose_draws(budget).run_file_bytes, (std::uint64_t{8} << 20) * (2 * blocks + 1));
    --budget.max_memory;
    if (blocks == 8) break;
    EXPECT_EQ(choose_draws(budget).blocks, blocks / 2);
  }
  const std::string message = error_of([&] { choose_draws(budget); });
  EXPECT_TRUE(contains(message, "2^20 coalitions x 10000 draws need")) << message;
  EXPECT_TRUE(contains(message, "more than --max-memory")) << message;
}

TEST(Budget, BytesForPeople) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1500), "1.5 kB");
  EXPECT_EQ(human_bytes(12'000'000), "12 MB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18447 PB");
}

}  // namespace
}  // namespace hifi
