#include "report/findings.h"

#include <gtest/gtest.h>

namespace hifi {
namespace {

TEST(ShortNumber, HasNoExponentWhereAPersonWritesNone) {
  EXPECT_EQ(short_number(24512.3, 3), "24500");
  EXPECT_EQ(short_number(-1234567, 2), "-1200000");
  EXPECT_EQ(short_number(0.04567, 2), "0.046");
  EXPECT_EQ(short_number(-1e-15, 3), "0");
  EXPECT_EQ(short_number(2.5e12, 3), "2.5e+12");
}

}  // namespace
}  // namespace hifi
