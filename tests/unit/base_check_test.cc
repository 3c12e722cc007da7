#include "base/check.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/log.h"

namespace comanda {
namespace {

TEST(CheckDeathTest, ABrokenInvariantEndsTheProcessWithOneLogLine) {
  EXPECT_DEATH(
      {
        log::SetOutput(2);
        CHECK(1 + 1 == 3, "sums are right");
      },
      "broken invariant why=\"sums are right\"");
}

TEST(CheckDeathTest, AnUncaughtExceptionEndsTheProcessWithOneLogLine) {
  EXPECT_DEATH(
      {
        log::SetOutput(2);
        std::thread([] { throw std::runtime_error("no more paper"); }).join();
      },
      "uncaught exception type=.*runtime_error why=\"no more paper\"");
}

}  // namespace
}  // namespace comanda
