#include "outbox/late.h"

#include <gtest/gtest.h>

#include "net/backoff.h"

namespace comanda::outbox {
namespace {

constexpr int64_t kDayMs = 86'400'000;

int64_t WaitMs(int64_t failures, uint64_t random) {
  return net::WaitWithFullJitter({.first_ms = 2'000, .max_ms = 1'800'000},
                                 static_cast<int>(failures), random);
}
constexpr Patience kPatience = {.wait_ms = WaitMs, .tried_for_ms = kDayMs};

Moment At(int64_t ms, UtcMs now = 1'000, uint64_t random = UINT64_MAX) {
  return {.now = now, .monotonic_ms = ms, .counted_ms = ms, .random = random};
}

TEST(OutboxLate, MessagesRestForLongerEachTime) {
  LateMessages late(kPatience);
  EXPECT_EQ(late.DueInMs(0), std::nullopt);
  int64_t last_ms = 0;
  for (int i = 0; i < 30; ++i) {
    late.NoteFailure("a", "status 500", At(0, 1'000 + i));
    const Late message = *late.Find("a");
    EXPECT_EQ(message.since, 1'000) << "the first failure";
    EXPECT_EQ(message.failing.failures, i + 1);
    EXPECT_GE(message.failing.due_ms, last_ms);
    last_ms = message.failing.due_ms;
  }
  EXPECT_NEAR(static_cast<double>(last_ms), 1'800'000, 1);
}

TEST(OutboxLate, CountOnFromFailuresThatAreStored) {
  LateMessages late(kPatience);
  EXPECT_EQ(late.NoteFailure("a", "status 500", At(0), 7).failures, 8);
  EXPECT_EQ(late.NoteFailure("a", "status 500", At(0), 8).failures, 9);
  EXPECT_EQ(late.Find("a")->failing.due_ms, WaitMs(9, UINT64_MAX));
}

TEST(OutboxLate, AreForAPersonAfterADayWhateverTheClockSays) {
  LateMessages late(kPatience);
  EXPECT_FALSE(late.NoteFailure("a", "status 500", At(50)).must_park);
  EXPECT_FALSE(late.NoteFailure("a", "status 500", At(60, 1'000 + 9 * kDayMs)).must_park)
      << "the wall clock jumped";
  EXPECT_FALSE(late.NoteFailure("a", "status 500", At(50 + kDayMs - 1)).must_park);
  EXPECT_TRUE(late.NoteFailure("a", "status 500", At(50 + kDayMs)).must_park);
}

TEST(OutboxLate, AreTriedWhenTheyAreDueOrAPersonSaysSo) {
  LateMessages late(kPatience);
  late.NoteFailure("a", "status 500", At(50'000));
  late.NoteFailure("b", "cut", At(1'000'000));
  const int64_t due_ms = late.Find("a")->failing.due_ms;
  EXPECT_GT(due_ms, 50'000);
  EXPECT_EQ(late.DueInMs(due_ms - 7), 7);
  EXPECT_EQ(late.DueInMs(due_ms + 7), 0);
  late.MakeDue();
  EXPECT_EQ(late.DueInMs(0), 0);
  EXPECT_EQ(late.List().size(), 2U) << "named until they succeed";
  EXPECT_TRUE(late.Contains("a"));
  EXPECT_TRUE(late.Remove("a"));
  EXPECT_FALSE(late.Remove("a"));
  late.Clear();
  EXPECT_TRUE(late.List().empty());
}

}  // namespace
}  // namespace comanda::outbox
