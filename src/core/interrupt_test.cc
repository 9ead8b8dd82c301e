#include "core/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "hifi/error.h"

namespace hifi {
namespace {

// In a child process: the wish cannot be taken back.
TEST(InterruptDeathTest, AWishIsSeenByTheNextCheck) {
  EXPECT_EXIT(
      {
        check_interrupt();
        std::signal(SIGUSR1, [](int) { request_interrupt(); });
        std::raise(SIGUSR1);
        try {
          check_interrupt();
        } catch (const Error& error) {
          std::exit(interrupt_requested() ? static_cast<int>(error.code()) : 1);
        }
        std::exit(0);
      },
      ::testing::ExitedWithCode(5), "");
  EXPECT_FALSE(interrupt_requested());
}

}  // namespace
}  // namespace hifi
