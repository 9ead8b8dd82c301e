#include "core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace hifi {
namespace {

TEST(ParallelFor, RunsEveryIndexOnce) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    Workers workers(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> seen(257);
      workers.parallel_for(seen.size(), [&](std::size_t i) { ++seen[i]; });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, RethrowsTheErrorOfTheLowestIndexThatFailed) {
  Workers workers(4);
  for (int repeat = 0; repeat < 50; ++repeat) {
    try {
      workers.parallel_for(1000, [](std::size_t i) {
        if (i >= 10) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_GE(std::stoi(error.what()), 10);
      EXPECT_LT(std::stoi(error.what()), 14);
    }
  }
  std::atomic<int> after{0};
  workers.parallel_for(10, [&](std::size_t) { ++after; });
  EXPECT_EQ(after, 10);
}

TEST(ParallelFor, NothingToDo) {
  Workers workers(2);
  workers.parallel_for(0, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace hifi
