#include "base/time/settled_clock.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace comanda {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kDay = 24 * kHour;
constexpr UtcMs kIn2038 = 2'150'000'000'000;

using Event = SettledClock::Event;

class BaseSettledClock : public ::testing::Test {
 protected:
  // As the process does: a look twice a second, here once an hour.
  std::optional<Event> Pass(int64_t ms) {
    std::optional<Event> last;
    for (int64_t passed = 0; passed < ms; passed += kHour) {
      machine.Advance(std::min(kHour, ms - passed));
      if (const auto step = clock.Look()) last = step->event;
    }
    return last;
  }

  std::optional<Event> Look() {
    const auto step = clock.Look();
    return step ? std::optional(step->event) : std::nullopt;
  }

  testing::FakeClock machine;
  bool synchronised = false;
  SettledClock clock{machine, [this] { return synchronised; }};
  const UtcMs begin = machine.Now();
};

TEST_F(BaseSettledClock, IsTheMachinesClockWhileThatGoesItsWay) {
  EXPECT_EQ(Pass(30 * kDay), std::nullopt);
  EXPECT_EQ(clock.Now(), begin + 30 * kDay);
  EXPECT_EQ(clock.SettledNow(), begin + 30 * kDay);
}

TEST_F(BaseSettledClock, GoesOnWithoutAStepAheadBeforeAnyoneLooked) {
  machine.SetWall(kIn2038);
  EXPECT_EQ(clock.Now(), kIn2038);
  EXPECT_EQ(clock.SettledNow(), begin);
  machine.Advance(kSecond);
  EXPECT_EQ(clock.SettledNow(), begin + kSecond);
}

TEST_F(BaseSettledClock, BelievesAStepAheadWhenItHasStoodForADay) {
  machine.SetWall(begin + 365 * kDay);
  EXPECT_EQ(Look(), Event::kAhead);
  EXPECT_EQ(Look(), std::nullopt) << "told once";
  EXPECT_EQ(Pass(kDay - kHour), std::nullopt);
  EXPECT_EQ(clock.SettledNow(), begin + kDay - kHour);
  EXPECT_EQ(Pass(kHour), Event::kBelieved);
  EXPECT_EQ(clock.SettledNow(), begin + 366 * kDay);
}

TEST_F(BaseSettledClock, BelievesAStepAheadWhenTheSystemVouchesForIt) {
  machine.SetWall(begin + kDay);
  EXPECT_EQ(Look(), Event::kAhead);
  synchronised = true;
  EXPECT_EQ(Look(), Event::kBelieved);
  EXPECT_EQ(clock.SettledNow(), begin + kDay);
}

TEST_F(BaseSettledClock, CountsTheDayAnewForAnotherStep) {
  machine.SetWall(begin + 365 * kDay);
  EXPECT_EQ(Look(), Event::kAhead);
  Pass(20 * kHour);
  machine.SetWall(begin + 3 * 365 * kDay);
  EXPECT_EQ(Look(), Event::kAhead);
  EXPECT_EQ(Pass(20 * kHour), std::nullopt);
  EXPECT_EQ(Pass(4 * kHour), Event::kBelieved);
}

TEST_F(BaseSettledClock, TellsWhenTheClockIsPutRight) {
  machine.SetWall(kIn2038);
  EXPECT_EQ(Look(), Event::kAhead);
  machine.SetWall(begin);
  const auto step = clock.Look();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->event, Event::kRight);
  EXPECT_EQ(step->from, kIn2038);
  EXPECT_EQ(step->to, begin);
  EXPECT_EQ(Look(), std::nullopt);
  EXPECT_EQ(clock.SettledNow(), begin);
  EXPECT_EQ(clock.RetentionNow(), begin);
}

TEST_F(BaseSettledClock, FollowsAStepBackWithWhatExpiresButNotWithWhatIsKept) {
  machine.SetWall(0);
  EXPECT_EQ(clock.SettledNow(), 0);
  EXPECT_EQ(clock.RetentionNow(), begin);
  EXPECT_EQ(Look(), Event::kBehind);
  machine.SetWall(begin);
  EXPECT_EQ(Look(), Event::kRight);
  EXPECT_EQ(clock.SettledNow(), begin);

  machine.SetWall(begin - 10 * kDay);
  Look();
  EXPECT_EQ(Pass(kDay), Event::kBelieved);
  EXPECT_EQ(clock.RetentionNow(), begin - 9 * kDay);
}

TEST_F(BaseSettledClock, TakesManySmallStepsForALargeOne) {
  for (int i = 0; i < 100; ++i) {
    machine.Advance(kSecond);
    machine.SetWall(machine.Now() + 60 * kSecond);
    clock.Look();
  }
  EXPECT_LT(clock.SettledNow(), begin + 200 * kSecond);
}

TEST_F(BaseSettledClock, FollowsAClockThatDrifts) {
  for (int i = 0; i < 10 * 24 * 60; ++i) {
    machine.Advance(60 * kSecond);
    machine.SetWall(machine.Now() + 30);  // 500 in a million
    EXPECT_EQ(Look(), std::nullopt);
  }
  EXPECT_EQ(clock.SettledNow(), machine.Now());
}

TEST_F(BaseSettledClock, GoesOnWhereAnEarlierProcessEnded) {
  clock.Resume(begin - 100 * kDay, 20 * kHour);
  EXPECT_EQ(clock.SettledNow(), begin - 100 * kDay);
  EXPECT_EQ(Pass(3 * kHour), std::nullopt);
  EXPECT_EQ(clock.SettledNow(), begin - 100 * kDay + 3 * kHour);
  EXPECT_EQ(Pass(kHour), Event::kBelieved);
  EXPECT_EQ(clock.SettledNow(), begin + 4 * kHour);
}

}  // namespace
}  // namespace comanda
