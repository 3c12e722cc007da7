#include "cloud/late_orders.h"

#include <gtest/gtest.h>

namespace comanda::cloud {
namespace {

TEST(CloudLateOrders, RestForLongerEachTime) {
  LateOrders late;
  EXPECT_EQ(late.DueInMs(0), std::nullopt);
  int64_t longest_ms = 0;
  for (int i = 0; i < 30; ++i) {
    const LateOrder order = late.NoteFailure("a", "status 500", 1'000 + i, 0);
    EXPECT_EQ(order.since, 1'000) << "the first failure";
    EXPECT_EQ(order.failures, i + 1);
    EXPECT_LE(order.due_at_ms, 1'800'000);
    longest_ms = std::max(longest_ms, order.due_at_ms);
  }
  EXPECT_GT(longest_ms, 60'000);
}

TEST(CloudLateOrders, AreForAPersonAfterADayWhateverTheClockSays) {
  constexpr int64_t kDayMs = 86'400'000;
  LateOrders late;
  late.NoteFailure("a", "status 500", 1'000, 50);
  LateOrder order = late.NoteFailure("a", "status 500", 1'000 + 9 * kDayMs, 60);
  EXPECT_FALSE(IsForAPerson(order, 60)) << "the wall clock jumped";
  EXPECT_FALSE(IsForAPerson(order, 50 + kDayMs - 1));
  EXPECT_TRUE(IsForAPerson(order, 50 + kDayMs));
}

TEST(CloudLateOrders, AreTriedWhenTheyAreDueOrAPersonSaysSo) {
  LateOrders late;
  const int64_t due_ms = late.NoteFailure("a", "status 500", 1'000, 50'000).due_at_ms;
  late.NoteFailure("b", "cut", 1'000, 1'000'000);
  EXPECT_TRUE(late.Resting(due_ms - 1).contains("a") || due_ms == 50'000);
  EXPECT_FALSE(late.Resting(due_ms).contains("a"));
  EXPECT_EQ(late.DueInMs(due_ms), 0);
  late.MakeDue();
  EXPECT_TRUE(late.Resting(0).empty());
  EXPECT_EQ(late.List().size(), 2U) << "named until they succeed";
  EXPECT_TRUE(late.Contains("a"));
  EXPECT_TRUE(late.Remove("a"));
  EXPECT_FALSE(late.Remove("a"));
  late.Clear();
  EXPECT_TRUE(late.List().empty());
}

}  // namespace
}  // namespace comanda::cloud
