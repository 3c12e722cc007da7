#include "webhooks/receiver.h"

#include <string>

#include <gtest/gtest.h>

#include "webhooks/schedule.h"

namespace comanda::webhooks {
namespace {

// A receiver with messages of events 1, 2, … of the given orders.
class WebhooksReceiver : public testing::Test {
 protected:
  void Fill(const std::vector<std::string>& orders) {
    for (const std::string& order : orders) {
      const int64_t before = receiver_.last_sequence();
      Item item;
      item.delivery = {.id = "d" + std::to_string(++seq_),
                       .seq = seq_,
                       .kind = Kind::kOrderUpdated,
                       .subject_type = "order",
                       .subject_id = order,
                       .sequence = receiver_.TakeNumber()};
      item.sequence_before = before;
      receiver_.Append(std::move(item));
      receiver_.SetRead(seq_);
    }
  }

  // The ids of what is sent now.
  std::string Send() {
    std::string sent;
    while (Item* item = receiver_.Next(now_)) {
      sent += item->delivery.id + " ";
      receiver_.Begin(*item, now_);
    }
    return sent;
  }

  void End(const std::string& id, bool is_acknowledged, int64_t status = 500) {
    Receiver::Ended ended;
    ended.is_acknowledged = is_acknowledged;
    ended.is_gone = status == 410;
    ended.attempt.at = now_.now;
    ended.attempt.outcome = is_acknowledged ? Outcome::kAcknowledged : Outcome::kRefusedStatus;
    ended.attempt.status = is_acknowledged ? 200 : status;
    receiver_.End(id, ended, now_);
  }

  void Pass(int64_t ms) {
    now_.now += ms;
    now_.monotonic_ms += ms;
    now_.counted_ms += ms;
  }

  int64_t Settled() {
    receiver_.Advance();
    return receiver_.progress().settled_seq;
  }

  Moment now_{
      .now = 1'000'000, .monotonic_ms = 1'000, .counted_ms = 1'000, .random = UINT64_MAX / 2};
  Receiver receiver_{Subscription{.id = "w", .secrets = {}}, {}, now_};
  int64_t seq_ = 0;
};

TEST_F(WebhooksReceiver, SendsFourAtOnceAndOnePerOrder) {
  Fill({"a", "a", "b", "c", "d", "e"});
  EXPECT_EQ(Send(), "d1 d3 d4 d5 ");
  End("d3", true);
  EXPECT_EQ(Send(), "d6 ");
  EXPECT_EQ(Settled(), 0);
  End("d1", true);
  EXPECT_EQ(Send(), "d2 ");
  EXPECT_EQ(Settled(), 1);
  EXPECT_EQ(receiver_.progress().sequence, 1);
}

TEST_F(WebhooksReceiver, WhatIsAcknowledgedMakesRoomBeforeItIsStored) {
  for (int i = 0; receiver_.HasRoom(); ++i) Fill({"o" + std::to_string(i)});
  const int64_t begin = receiver_.progress().settled_seq;
  Send();
  End("d2", true);
  EXPECT_FALSE(receiver_.HasRoom());  // the first one is under way
  End("d1", true);
  EXPECT_TRUE(receiver_.HasRoom());
  EXPECT_EQ(receiver_.passed(), 2);
  receiver_.SetStored(receiver_.changed().size(), receiver_.delivered().size());
  EXPECT_EQ(receiver_.passed(), 0);
  EXPECT_EQ(receiver_.progress().settled_seq, begin + 2);
}

TEST_F(WebhooksReceiver, WhatFailsIsLateAndHoldsUpItsOwnOrderAlone) {
  Fill({"a", "a", "b"});
  EXPECT_EQ(Send(), "d1 d3 ");
  End("d1", false);
  End("d3", true);
  EXPECT_EQ(Settled(), 3);  // d1 is late, d2 waits behind it: both have rows
  Fill({"a", "c"});
  EXPECT_EQ(Send(), "d5 ");
  End("d5", true);
  EXPECT_EQ(Settled(), 5);
  Pass(WaitMs(1, UINT64_MAX));
  EXPECT_EQ(Send(), "d1 ");
  End("d1", true);
  EXPECT_EQ(Send(), "d2 ");
  End("d2", true);
  EXPECT_EQ(Send(), "d4 ");
}

TEST_F(WebhooksReceiver, ADownReceiverGetsOneAttemptAtATimeAndEverythingWhenItIsBack) {
  Fill({"a", "b", "c", "d", "e"});
  EXPECT_EQ(Send(), "d1 d2 d3 d4 ");
  for (const char* id : {"d1", "d2", "d3", "d4"}) End(id, false);
  EXPECT_EQ(Send(), "");
  EXPECT_EQ(Settled(), 2);  // the two that failed first are late; the log keeps the others
  Pass(WaitWhileDownMs(true));
  EXPECT_EQ(Send(), "");  // no newer event waits
  Fill({"f"});
  EXPECT_EQ(Send(), "d5 ");
  End("d5", true);
  EXPECT_EQ(Send(), "d1 d2 ");  // one success: two at once
  End("d1", true);
  End("d2", true);
  EXPECT_EQ(Send(), "d3 d4 d6 ");
}

TEST_F(WebhooksReceiver, ARetryAfterHoldsForTheWholeReceiver) {
  Fill({"a", "b"});
  EXPECT_EQ(Send(), "d1 d2 ");
  Receiver::Ended ended;
  ended.attempt.outcome = Outcome::kRefusedStatus;
  ended.attempt.status = 503;
  ended.retry_after_ms = 60'000;
  receiver_.End("d1", ended, now_);
  End("d2", true);
  Fill({"c"});
  EXPECT_EQ(Send(), "");
  Pass(60'000);
  EXPECT_EQ(Send(), "d1 d3 ");
}

TEST_F(WebhooksReceiver, AGoneReceiverIsSuspendedAtOnce) {
  Fill({"a", "b"});
  Send();
  End("d1", false, 410);
  EXPECT_EQ(receiver_.progress().suspended, Suspended::kGone);
  EXPECT_TRUE(receiver_.subscription().configuration.is_active);
  EXPECT_EQ(Send(), "");
}

TEST_F(WebhooksReceiver, AMessageIsDeadAfter72Hours) {
  Fill({"a", "a", "b"});
  Send();
  End("d1", false);
  End("d3", true);
  Pass(kTriedForMs);
  EXPECT_EQ(Send(), "d1 ");
  End("d1", false);
  EXPECT_EQ(receiver_.changed().back().state, State::kDead);
  EXPECT_EQ(Send(), "d2 ");  // its order goes on
}

TEST_F(WebhooksReceiver, AnAttemptThatWasNotMadeDoesNotCount) {
  Fill({"a"});
  EXPECT_EQ(Send(), "d1 ");
  receiver_.Undo("d1");
  EXPECT_EQ(receiver_.progress().failures_in_a_row, 0);
  EXPECT_EQ(Send(), "d1 ");
}

TEST_F(WebhooksReceiver, WhatWaitsBehindALateMessageMakesNoReceiverDown) {
  Fill(std::vector<std::string>(1, "a"));
  Send();
  End("d1", false);
  Fill(std::vector<std::string>(1'200, "a"));
  Fill({"b", "c"});
  EXPECT_EQ(Send(), "d1202 d1203 ");
}

TEST_F(WebhooksReceiver, AThousandLateMessagesMakeItDownUntilOnePasses) {
  std::vector<Delivery> late;
  for (int i = 1; i <= 1'000; ++i) {
    late.push_back({.id = "l" + std::to_string(i),
                    .seq = i,
                    .kind = Kind::kOrderUpdated,
                    .subject_type = "order",
                    .subject_id = "o" + std::to_string(i),
                    .state = State::kLate,
                    .failing = {.failures = 1, .since_ms = 1},
                    .next_attempt_at = now_.now});
  }
  Subscription subscription{.id = "w", .secrets = {}};
  subscription.progress.last_success_ms = 2;
  receiver_ = Receiver(subscription, late, now_);
  EXPECT_EQ(Send(), "l1 l2 l3 l4 ");  // the last attempt did not fail: redelivered, say
  for (const char* id : {"l2", "l3", "l4"}) End(id, true);
  End("l1", false);
  EXPECT_FALSE(receiver_.IsDown());  // 997 are late
  receiver_ = Receiver(subscription, late, now_);
  Send();
  End("l1", false);
  EXPECT_TRUE(receiver_.IsDown());
  End("l2", true);
  EXPECT_FALSE(receiver_.IsDown());
  End("l3", true);
  End("l4", true);
  EXPECT_EQ(Send(), "l5 l6 l7 l8 ");
}

TEST_F(WebhooksReceiver, NothingDiesBecauseTheReceiverWasDown) {
  Fill({"z"});
  Send();
  End("d1", true);
  Pass(1);
  Fill({"a", "b", "c"});
  Send();
  for (const char* id : {"d2", "d3", "d4"}) End(id, false);
  EXPECT_EQ(Settled(), 3);  // d2 and d3 are rows
  Pass(kTriedForMs);
  for (int attempt = 0; attempt < 25; ++attempt) {  // more than a row keeps
    Pass(WaitWhileDownMs(false));
    const std::string sent = Send();
    ASSERT_EQ(sent.size(), 3) << attempt;
    End(sent.substr(0, 2), false);
  }
  receiver_.SetStored(receiver_.changed().size(), receiver_.delivered().size());
  Pass(WaitWhileDownMs(false));
  const std::string sent = Send();
  End(sent.substr(0, 2), true);
  // The others are due, and their 72 hours begin now.
  EXPECT_EQ(Send().size(), 6);
  Pass(1);
  for (const char* id : {"d2", "d3", "d4"}) End(id, false);
  for (const Delivery& row : receiver_.changed()) EXPECT_NE(row.state, State::kDead) << row.id;
}

TEST_F(WebhooksReceiver, ALateMessageKeepsItsScheduleWhenTheReceiverComesBack) {
  constexpr int64_t kLongMs = 3'600'000;
  Fill({"a"});
  Send();
  Receiver::Ended refused;
  refused.attempt.outcome = Outcome::kRefusedStatus;
  refused.attempt.status = 500;
  refused.retry_after_ms = kLongMs;
  receiver_.End("d1", refused, now_);
  Pass(1);
  Fill({"b", "c", "d", "e"});
  EXPECT_EQ(Send(), "d2 d3 d4 d5 ");
  End("d2", true);  // d1 is late for good
  for (const char* id : {"d3", "d4", "d5"}) End(id, false);
  EXPECT_TRUE(receiver_.IsDown());
  Fill({"f"});
  Pass(WaitWhileDownMs(true));
  EXPECT_EQ(Send(), "d6 ");
  End("d6", true);
  EXPECT_EQ(Send(), "d3 d4 ");
  for (const char* id : {"d3", "d4"}) End(id, true);
  EXPECT_EQ(Send(), "d5 ");
  Pass(kLongMs);
  EXPECT_EQ(Send(), "d1 ");
}

TEST_F(WebhooksReceiver, WhatFailsAgainBehindASuccessIsLateAlsoWhereItTakesTheReceiverDown) {
  Fill({"a", "b", "c", "d", "d", "d"});
  EXPECT_EQ(Send(), "d1 d2 d3 d4 ");
  for (const char* id : {"d1", "d2", "d3"}) End(id, false);
  EXPECT_TRUE(receiver_.IsDown());  // d3 stays in the window
  Pass(1);
  End("d4", true);
  EXPECT_EQ(Send(), "d1 d2 ");
  Pass(1);
  for (const char* id : {"d1", "d2"}) End(id, false);
  EXPECT_EQ(Send(), "d3 d5 ");
  Pass(1);
  End("d3", false);
  EXPECT_TRUE(receiver_.IsDown());
  End("d5", true);
  EXPECT_EQ(Send(), "d6 ");  // d3 waits as d1 and d2 do
}

TEST_F(WebhooksReceiver, AnAttemptThatWasNotMadeCostsNoWaitWhileDown) {
  Fill({"a", "b", "c"});
  Send();
  for (const char* id : {"d1", "d2", "d3"}) End(id, false);
  Pass(WaitWhileDownMs(false));
  const std::string sent = Send();
  ASSERT_EQ(sent.size(), 3);
  receiver_.Undo(sent.substr(0, 2));
  EXPECT_EQ(Send(), sent);
}

TEST_F(WebhooksReceiver, ANewerMessageHastensTheNextAttemptAlsoBehindAFullWindow) {
  Fill({"a", "b", "c"});
  Send();
  for (const char* id : {"d1", "d2", "d3"}) End(id, false);
  EXPECT_FALSE(receiver_.MissesNewer());
  for (int i = 0; receiver_.HasRoom(); ++i) Fill({"more" + std::to_string(i)});
  EXPECT_FALSE(receiver_.MissesNewer());
  Pass(WaitWhileDownMs(true));
  const std::string sent = Send();
  ASSERT_NE(sent, "");
  End(sent.substr(0, sent.size() - 1), false);
  EXPECT_TRUE(receiver_.MissesNewer());
  Pass(WaitWhileDownMs(true));
  EXPECT_EQ(Send(), "");
  receiver_.SetRead(++seq_);  // an event that nobody asked for
  EXPECT_EQ(Send(), "");
  receiver_.NoteNewer();
  EXPECT_FALSE(receiver_.MissesNewer());
  EXPECT_NE(Send(), "");
}

TEST_F(WebhooksReceiver, TheAttemptThatFound410StandsInTheRowOfALateMessage) {
  Fill({"a", "b"});
  Send();
  End("d1", false);
  End("d2", true);
  receiver_.SetStored(receiver_.changed().size(), receiver_.delivered().size());
  Pass(WaitMs(1, UINT64_MAX));
  EXPECT_EQ(Send(), "d1 ");
  End("d1", false, 410);
  ASSERT_EQ(receiver_.changed().size(), 1u);
  EXPECT_EQ(receiver_.changed()[0].attempts.size(), 2u);
  EXPECT_EQ(receiver_.changed()[0].state, State::kLate);
  EXPECT_EQ(receiver_.progress().suspended, Suspended::kGone);
}

TEST_F(WebhooksReceiver, AMessageWhoseEventIsNotKeptIsLostAndNoFailureOfTheReceiver) {
  Fill({"a", "a", "b"});
  Send();
  End("d1", false);
  End("d3", true);
  Pass(WaitMs(1, UINT64_MAX));
  EXPECT_EQ(Send(), "d1 ");
  receiver_.SetStored(receiver_.changed().size(), receiver_.delivered().size());
  receiver_.GiveUp("d1", {}, now_);
  ASSERT_EQ(receiver_.changed().size(), 1u);
  EXPECT_EQ(receiver_.changed()[0].state, State::kDead);
  EXPECT_TRUE(receiver_.is_dirty());
  EXPECT_EQ(receiver_.progress().events_lost, 1);
  EXPECT_EQ(receiver_.progress().failures_in_a_row, 0);
  EXPECT_EQ(receiver_.under_way(), 0u);
  EXPECT_EQ(Send(), "d2 ");
}

TEST_F(WebhooksReceiver, EachAppIsAKeyAndTheCatalogueIsOne) {
  const auto key = [](const char* type, const char* id) {
    return Delivery{.subject_type = type, .subject_id = id}.Key();
  };
  EXPECT_NE(key("store", "rappi"), key("store", "ifood"));
  EXPECT_EQ(key("product", "1"), key("product", "2"));
  EXPECT_NE(key("order", "1"), key("order", "2"));
}

TEST_F(WebhooksReceiver, TheLongestPauseThatAReceiverAsksForCounts) {
  Fill({"a", "b"});
  Send();
  for (const auto& [id, wait_ms] : {std::pair("d1", 60'000), std::pair("d2", 1'000)}) {
    Receiver::Ended ended;
    ended.attempt.outcome = Outcome::kRefusedStatus;
    ended.attempt.status = 429;
    ended.retry_after_ms = wait_ms;
    receiver_.End(id, ended, now_);
  }
  Pass(59'999);
  EXPECT_EQ(Send(), "");
  Pass(1);
  EXPECT_EQ(Send(), "d1 d2 ");
}

TEST_F(WebhooksReceiver, SuspendsWhatHasFailedFor72HoursAndFifteenAttempts) {
  constexpr int64_t kStepMs = 270LL * 60'000;  // 15 of them are less than 72 hours
  Fill({"a"});
  for (int attempt = 0; attempt < 15; ++attempt) {
    Pass(kStepMs);
    receiver_.AddFailing(kStepMs);
    ASSERT_EQ(Send(), "d1 ") << attempt;
    End("d1", false);
    receiver_.SuspendIfFailing(now_);
    EXPECT_EQ(receiver_.progress().suspended, Suspended::kNot);
  }
  receiver_.AddFailing(kStepMs);
  receiver_.SuspendIfFailing(now_);
  EXPECT_EQ(receiver_.progress().suspended, Suspended::kFailing);
}

}  // namespace
}  // namespace comanda::webhooks
