#include "base/line_limit.h"

#include <gtest/gtest.h>

namespace comanda {
namespace {

TEST(BaseLineLimit, AllowsSoManyLinesInEachPeriod) {
  LineLimit limit(2, 1'000);
  EXPECT_TRUE(limit.Allows(5'000));
  EXPECT_TRUE(limit.Allows(5'400));
  EXPECT_FALSE(limit.Allows(5'900));
  EXPECT_TRUE(limit.Allows(6'000));
  EXPECT_TRUE(limit.Allows(6'999));
  EXPECT_FALSE(limit.Allows(6'999));
}

TEST(BaseLineLimit, AllowsTheFirstLineAtTimeZero) {
  LineLimit limit(1, 1'000);
  EXPECT_TRUE(limit.Allows(0));
  EXPECT_FALSE(limit.Allows(0));
}

}  // namespace
}  // namespace comanda
