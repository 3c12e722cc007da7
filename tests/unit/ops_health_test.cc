#include "ops/health.h"

#include <gtest/gtest.h>
#include <sys/timex.h>
#include <unistd.h>

namespace comanda::ops {
namespace {

TEST(OpsHealth, SaysWhetherTheClockIsSynchronised) {
  EXPECT_EQ(ClockState(TIME_OK), "synchronised");
  EXPECT_EQ(ClockState(TIME_INS), "synchronised") << "a leap second is near";
  EXPECT_EQ(ClockState(TIME_ERROR), "not synchronised");
}

TEST(OpsHealth, DoesNotCallAClockSynchronisedThatItMayNotAsk) {
  constexpr int kRefusedBySandbox = -1;
  const bool timesyncd_says_so =
      ::access("/run/systemd/timesync/synchronized", F_OK) == 0;  // on some machines that test
  EXPECT_EQ(ClockState(kRefusedBySandbox), timesyncd_says_so ? "synchronised" : "unknown");
}

}  // namespace
}  // namespace comanda::ops
