#include "core/progress.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hifi {
namespace {

TEST(Progress, TellsTheEndAtOnceAndTheMiddleRarely) {
  std::vector<ProgressReport> told;
  Progress progress(1000, 0, [&](const ProgressReport& report) { told.push_back(report); });
  for (int k = 0; k < 1000; ++k) progress.advance(1);
  ASSERT_GE(told.size(), 1U);
  EXPECT_LE(told.size(), 3U);
  EXPECT_EQ(told.back().done, 1000U);
  EXPECT_EQ(told.back().total, 1000U);
  EXPECT_EQ(told.back().remaining_seconds, 0);
}

TEST(Progress, RateIsThatOfThisProcess) {
  Progress progress(1000, 900, {});
  EXPECT_LT(progress.report().remaining_seconds, 0) << "not known before the first step";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  progress.advance(50);
  const ProgressReport report = progress.report();
  EXPECT_EQ(report.done, 950U);
  EXPECT_GT(report.rate, 0);
  EXPECT_LE(report.rate, 50 / 0.02);
  EXPECT_NEAR(report.remaining_seconds * report.rate, 50, 1e-6);
}

TEST(Progress, NeverPromisesLessThanNothing) {
  Progress progress(10, 0, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  progress.advance(11);
  EXPECT_EQ(progress.report().remaining_seconds, 0);
}

}  // namespace
}  // namespace hifi
