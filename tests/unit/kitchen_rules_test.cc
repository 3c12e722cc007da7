// Which lines count and wait, in what state a ticket is, and what marks do to the order.

#include <gtest/gtest.h>

#include "kitchen/rules.h"

namespace comanda::kitchen {
namespace {

using orders::Status;

constexpr UtcMs kNoon = 1'795'000'000'000;

Line LineAt(std::string id, UtcMs added_at) {
  Line line;
  line.id = std::move(id);
  line.added_at = added_at;
  line.quantity = 1'000;
  return line;
}

// Two lines, added at noon to a new order.
Ticket TwoLines() {
  Ticket ticket;
  ticket.order_version = 2;
  ticket.moved_at = kNoon;
  ticket.lead_ms = 20 * kMinuteMs;
  ticket.lines = {LineAt("a", kNoon), LineAt("b", kNoon)};
  return ticket;
}

Ticket Marked(Ticket ticket, std::initializer_list<size_t> lines, UtcMs now) {
  for (const size_t line : lines) MarkDone(ticket.lines[line], now, "Parrilla");
  return ticket;
}

Ticket Moved(Ticket ticket, Status status, UtcMs now) {
  Move(ticket, status, now);
  return ticket;
}

TEST(KitchenRules, ALineWaitsUntilItHasAMark) {
  const Ticket ticket = Marked(TwoLines(), {0}, kNoon + 1);
  EXPECT_FALSE(Waits(ticket, ticket.lines[0], kNoon + 1));
  EXPECT_TRUE(Waits(ticket, ticket.lines[1], kNoon + 1));
  EXPECT_EQ(StateAt(ticket, kNoon + 1), State::kOpen);
}

TEST(KitchenRules, ACancelledLineAndOneThatNobodyPreparesDoNotCount) {
  Ticket ticket = TwoLines();
  ticket.lines[0].canceled_at = kNoon + 1;
  ticket.lines[1].is_prepared = false;
  EXPECT_FALSE(AnyWaits(ticket, kNoon + 1));
  EXPECT_EQ(StateAt(ticket, kNoon + 1), State::kClosed) << "there was nothing to make";
}

TEST(KitchenRules, ALineOfTwelveHoursDoesNotWaitAnyMore) {
  const Ticket ticket = TwoLines();
  EXPECT_TRUE(AnyWaits(ticket, kNoon + kWaitsMs - 1));
  EXPECT_FALSE(AnyWaits(ticket, kNoon + kWaitsMs));
  EXPECT_EQ(StateAt(ticket, kNoon + kWaitsMs), State::kClosed);
}

TEST(KitchenRules, AnOrderForTomorrowWaitsUntilThen) {
  Ticket ticket = TwoLines();
  ticket.scheduled_for = kNoon + 30 * 60 * kMinuteMs;
  EXPECT_EQ(StateAt(ticket, kNoon), State::kLater);
  EXPECT_EQ(NextMoment(ticket, kNoon + 2 * kShownMs), *ticket.scheduled_for - ticket.lead_ms);
  EXPECT_EQ(StateAt(ticket, *ticket.scheduled_for - ticket.lead_ms - 1), State::kLater);
  EXPECT_EQ(StateAt(ticket, *ticket.scheduled_for - ticket.lead_ms), State::kOpen);
  EXPECT_EQ(StateAt(ticket, *ticket.scheduled_for + kWaitsMs), State::kClosed);
}

TEST(KitchenRules, WhatATillCallsReadyDoesNotWait) {
  const Ticket ticket = Moved(TwoLines(), Status::kReady, kNoon + kMinuteMs);
  EXPECT_EQ(StateAt(ticket, kNoon + kMinuteMs), State::kReady);
  EXPECT_EQ(StateAt(ticket, kNoon + kMinuteMs + kShownMs - 1), State::kReady);
  EXPECT_EQ(StateAt(ticket, kNoon + kMinuteMs + kShownMs), State::kClosed);
}

TEST(KitchenRules, ACounterThatIsPaidFirstStillCooks) {
  Ticket ticket = TwoLines();
  ticket.status = Status::kFinalized;  // READY and DELIVERED were steps between
  ticket.moved_at = kNoon + 1;
  EXPECT_EQ(StateAt(ticket, kNoon + 1), State::kOpen);
  const Ticket done = Marked(ticket, {0, 1}, kNoon + 2);
  EXPECT_EQ(StateAt(done, kNoon + 2), State::kClosed);
  EXPECT_EQ(StatusAfterMarks(ticket, done, kNoon + 2), std::nullopt);
}

TEST(KitchenRules, OfAnOlderProgramTimesSayWhatWasCalledReady) {
  Ticket ticket = Moved(TwoLines(), Status::kReady, kNoon + 1);
  ticket.call->lines.reset();
  EXPECT_FALSE(AnyWaits(ticket, kNoon + 2));
  ticket.lines.push_back(LineAt("c", kNoon + 2));
  EXPECT_TRUE(AnyWaits(ticket, kNoon + 2));
}

TEST(KitchenRules, ALineThatIsAddedLaterWaitsAlone) {
  Ticket ticket = Moved(TwoLines(), Status::kDelivered, kNoon + kMinuteMs);
  ticket.lines.push_back(LineAt("c", kNoon + kMinuteMs));
  EXPECT_FALSE(Waits(ticket, ticket.lines[0], kNoon + kMinuteMs));
  EXPECT_TRUE(Waits(ticket, ticket.lines[2], kNoon + kMinuteMs))
      << "also within the millisecond of the call";
  EXPECT_EQ(StateAt(ticket, kNoon + kMinuteMs), State::kOpen);
}

TEST(KitchenRules, TheFirstMarkBeginsAnOrderAndTheLastOneEndsIt) {
  const Ticket ticket = TwoLines();
  const Ticket one = Marked(ticket, {1}, kNoon + 1);
  EXPECT_EQ(StatusAfterMarks(ticket, one, kNoon + 1), Status::kPreparing);
  const Ticket both = Marked(one, {0}, kNoon + 2);
  EXPECT_EQ(StatusAfterMarks(one, both, kNoon + 2), Status::kReady);
  EXPECT_EQ(StatusAfterMarks(Moved(one, Status::kDelivered, kNoon + 1),
                             Moved(both, Status::kDelivered, kNoon + 1), kNoon + 2),
            std::nullopt)
      << "an order never goes back";
}

TEST(KitchenRules, SeenMovesNothing) {
  Ticket ticket = TwoLines();
  ticket.lines[0].canceled_at = kNoon + 1;
  EXPECT_EQ(StatusAfterMarks(ticket, Marked(ticket, {0}, kNoon + 2), kNoon + 2), std::nullopt);
  ticket.lines[1].is_prepared = false;
  EXPECT_EQ(StatusAfterMarks(ticket, Marked(ticket, {1}, kNoon + 2), kNoon + 2), std::nullopt);
  Ticket cancelled = TwoLines();
  cancelled.status = Status::kCancelled;
  EXPECT_EQ(StatusAfterMarks(cancelled, Marked(cancelled, {0}, kNoon + 2), kNoon + 2),
            std::nullopt);
}

TEST(KitchenRules, ACancelledOrderStaysUntilItsLinesAreTouchedOrForAnHour) {
  Ticket ticket = TwoLines();
  ticket.status = Status::kCancelled;
  ticket.canceled_at = kNoon + 1;
  EXPECT_EQ(StateAt(ticket, kNoon + 2), State::kCancelled);
  EXPECT_FALSE(AnyWaits(ticket, kNoon + 2));
  EXPECT_EQ(StateAt(Marked(ticket, {0}, kNoon + 2), kNoon + 2), State::kCancelled);
  EXPECT_EQ(StateAt(Marked(ticket, {0, 1}, kNoon + 2), kNoon + 2), State::kClosed);
  EXPECT_EQ(StateAt(ticket, kNoon + 1 + kShownMs), State::kClosed);
  SendOut(ticket, kNoon + 3);
  EXPECT_EQ(StateAt(ticket, kNoon + 3), State::kClosed);
}

TEST(KitchenRules, UndoBringsALineBackAlthoughTheOrderIsReady) {
  Ticket ticket = Moved(Marked(TwoLines(), {0, 1}, kNoon + 2), Status::kReady, kNoon + 2);
  EXPECT_TRUE(Undo(ticket, ticket.lines[0], kNoon + 3));
  EXPECT_TRUE(Waits(ticket, ticket.lines[0], kNoon + 3));
  EXPECT_FALSE(Undo(ticket, ticket.lines[0], kNoon + 4)) << "unchanged";
  EXPECT_EQ(StateAt(ticket, kNoon + 3), State::kOpen);
  EXPECT_FALSE(AnyWaits(Moved(ticket, Status::kDelivered, kNoon + 5), kNoon + 5))
      << "what is delivered was made";
}

TEST(KitchenRules, UndoCallsBackALineThatWasCalledReadyWithoutAMark) {
  Ticket ticket = Moved(TwoLines(), Status::kReady, kNoon + 2);
  EXPECT_TRUE(Undo(ticket, ticket.lines[1], kNoon + 3));
  EXPECT_FALSE(Waits(ticket, ticket.lines[0], kNoon + 3));
  EXPECT_TRUE(Waits(ticket, ticket.lines[1], kNoon + 3));
  ticket.lines[0].canceled_at = kNoon + 3;
  EXPECT_FALSE(Undo(ticket, ticket.lines[0], kNoon + 4)) << "it would not wait";
}

TEST(KitchenRules, NothingWaitsWhenTheDishesAreOut) {
  Ticket ticket = Moved(TwoLines(), Status::kReady, kNoon);
  Undo(ticket, ticket.lines[0], kNoon + 1);
  ASSERT_TRUE(SendOut(ticket, kNoon + 1));
  EXPECT_FALSE(SendOut(ticket, kNoon + 2)) << "unchanged";
  EXPECT_FALSE(AnyWaits(ticket, kNoon + 1)) << "in the same millisecond either";
  EXPECT_EQ(StateAt(ticket, kNoon + 1), State::kClosed);
  ticket.lines.push_back(LineAt("c", kNoon + 1));
  EXPECT_EQ(OutAt(ticket), std::nullopt);
  EXPECT_EQ(StateAt(ticket, kNoon + 1), State::kOpen);
  EXPECT_FALSE(Waits(ticket, ticket.lines[0], kNoon + 1));
  EXPECT_TRUE(Waits(ticket, ticket.lines[2], kNoon + 1));
  EXPECT_TRUE(SendOut(ticket, kNoon + 2));
  EXPECT_EQ(OutAt(ticket), kNoon + 2);
}

TEST(KitchenRules, UndoEndsOut) {
  Ticket ticket = TwoLines();
  SendOut(ticket, kNoon + 1);
  EXPECT_TRUE(EndOut(ticket));
  EXPECT_FALSE(EndOut(ticket));
  EXPECT_EQ(OutAt(ticket), std::nullopt);
}

TEST(KitchenRules, OutMakesAnOrderReadyAndNoMore) {
  EXPECT_EQ(StatusAfterOut(TwoLines()), Status::kReady);
  Ticket ticket = TwoLines();
  for (const Status status :
       {Status::kReady, Status::kDelivered, Status::kFinalized, Status::kCancelled}) {
    ticket.status = status;
    EXPECT_EQ(StatusAfterOut(ticket), std::nullopt);
  }
}

TEST(KitchenRules, RushIsOnOrOff) {
  Ticket ticket = TwoLines();
  EXPECT_FALSE(Rush(ticket, false, kNoon));
  EXPECT_TRUE(Rush(ticket, true, kNoon + 1));
  EXPECT_FALSE(Rush(ticket, true, kNoon + 2));
  EXPECT_EQ(ticket.rush_at, kNoon + 1);
  EXPECT_TRUE(Rush(ticket, false, kNoon + 3));
  EXPECT_EQ(ticket.rush_at, std::nullopt);
}

TEST(KitchenRules, NoStateChangesBeforeTheNextMoment) {
  Ticket ticket = TwoLines();
  ticket.scheduled_for = kNoon + 3 * 60 * kMinuteMs;
  for (UtcMs now = kNoon; const auto next = NextMoment(ticket, now);) {
    const State state = StateAt(ticket, now);
    EXPECT_EQ(StateAt(ticket, *next - 1), state);
    now = *next;
    ASSERT_LT(now, kNoon + 48 * 60 * kMinuteMs);
  }
}

}  // namespace
}  // namespace comanda::kitchen
