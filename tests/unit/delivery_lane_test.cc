#include "delivery/lane.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace comanda::delivery {
namespace {

using Failure = Lane::Failure;
using Verdict = Lane::Verdict;

// Messages that wait for one destination. A message is named by its key and place: "a0".
class DeliveryLane : public testing::Test {
 protected:
  // The next message, or "" where none may be sent.
  std::string Next() {
    const auto next = lane_.Next(waiting_, now_ms_);
    return next ? Name(waiting_[*next]) : "";
  }

  static std::string Name(const Lane::Message& message) {
    return std::string(message.key) + std::to_string(message.place);
  }

  // The next message is delivered.
  void Deliver() {
    const size_t next = lane_.Next(waiting_, now_ms_).value();
    lane_.NoteAnswer();
    lane_.Finish(waiting_[next].key);
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(next));
  }

  // An attempt at the next message fails.
  Verdict Fail(Failure failure) {
    const size_t next = lane_.Next(waiting_, now_ms_).value();
    const Verdict verdict = lane_.Fail(waiting_[next], failure, now_ms_);
    if (verdict == Verdict::kGiveUp) {
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(next));
    } else if (verdict == Verdict::kCount) {
      ++waiting_[next].failures;
    }
    return verdict;
  }

  Lane lane_;
  std::vector<Lane::Message> waiting_;
  int64_t now_ms_ = 1'000;
};

TEST_F(DeliveryLane, SendsTheMessagesOfAKeyInTheirOrder) {
  waiting_ = {{"a", 2}, {"b", 0}, {"a", 0}, {"a", 1}};
  EXPECT_EQ(Next(), "b0");
  Deliver();
  for (const std::string_view name : {"a0", "a1", "a2"}) {
    EXPECT_EQ(Next(), name);
    Deliver();
  }
  EXPECT_EQ(Next(), "");
}

TEST_F(DeliveryLane, ALateMessageHoldsUpItsOwnKeyAlone) {
  waiting_ = {{"a", 0}, {"a", 1}, {"b", 0}, {"c", 0}};
  EXPECT_EQ(Fail(Failure::kAnswered), Verdict::kCount);
  EXPECT_EQ(Next(), "b0");
  Deliver();
  EXPECT_EQ(Next(), "c0");
  Deliver();
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(lane_.late(), 1);
  now_ms_ += 2'000;
  EXPECT_EQ(Next(), "a0");
  Deliver();
  EXPECT_EQ(Next(), "a1");
  EXPECT_EQ(lane_.late(), 0);
}

TEST_F(DeliveryLane, WhatHasNotFailedGoesBeforeWhatIsLate) {
  waiting_ = {{"a", 0, 3}, {"b", 0, 1}, {"c", 0}};  // the failures of an earlier process
  EXPECT_EQ(Next(), "c0");
  Deliver();
  EXPECT_EQ(Next(), "a0");
  Fail(Failure::kAnswered);
  EXPECT_EQ(Next(), "b0");
}

TEST_F(DeliveryLane, TheWaitDoublesUpToAMinuteAndADayOfItIsEnough) {
  int64_t waited_ms = 0;
  for (int64_t failures = 0; failures + 1 < Lane::kAttemptsMax; ++failures) {
    EXPECT_GE(Lane::WaitAfter(failures + 1), Lane::WaitAfter(failures));
    waited_ms += Lane::WaitAfter(failures);
  }
  EXPECT_EQ(Lane::WaitAfter(0), 2'000);
  EXPECT_EQ(Lane::WaitAfter(1'000'000), 60'000);
  constexpr int64_t kDayMs = 24 * 60 * 60'000;
  EXPECT_GE(waited_ms, kDayMs);
  EXPECT_LT(waited_ms, kDayMs + 60'000);
}

TEST_F(DeliveryLane, AMessageThatFailsForADayIsGivenUpAndTheNextOfItsKeyGoes) {
  waiting_ = {{"a", 0}, {"a", 1}};
  int attempts = 1;
  for (; Fail(Failure::kAnswered) == Verdict::kCount; ++attempts) now_ms_ += 60'000;
  EXPECT_EQ(attempts, Lane::kAttemptsMax);
  EXPECT_EQ(Next(), "a1");
  EXPECT_EQ(lane_.late(), 0);
}

// An attempt without an answer takes ten seconds; every half minute a poll is answered.
TEST_F(DeliveryLane, HoweverManyGetNoAnswerANewMessageGoesWithinAMinute) {
  for (const std::string_view key : {"a", "b", "c", "d", "e", "f"}) waiting_.push_back({key, 0});
  const auto pass = [&] {
    if (Next() != "" && Next() != "new0") Fail(Failure::kNoAnswer);
    now_ms_ += 10'000;
    if (now_ms_ / 10'000 % 3 == 0) lane_.NoteAnswer();
  };
  for (int round = 0; round < 50; ++round) {
    pass();
    waiting_.push_back({"new", 0});
    const int64_t since_ms = now_ms_;
    while (Next() != "new0") pass();
    EXPECT_LE(now_ms_ - since_ms, 60'000);
    std::erase_if(waiting_, [](const Lane::Message& message) { return message.key == "new"; });
  }
}

TEST_F(DeliveryLane, AMessageThatNeverGetsAnAnswerHoldsUpNoNewOne) {
  waiting_ = {{"a", 0}};
  for (int i = 0; i < 100; ++i, now_ms_ += 60'000) {
    Fail(Failure::kNoAnswer);
    waiting_.push_back({"b", i});
    EXPECT_EQ(Next(), "b" + std::to_string(i));
    waiting_.pop_back();
  }
}

TEST_F(DeliveryLane, OneMessageShowsWhetherTheDestinationStillAnswers) {
  waiting_ = {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}};
  Fail(Failure::kNoAnswer);
  EXPECT_EQ(Next(), "b0");
  Fail(Failure::kNoAnswer);
  EXPECT_EQ(Next(), "") << "two of two orders: it does not";
  now_ms_ += 4'000;
  EXPECT_EQ(Next(), "c0");
  Fail(Failure::kNoAnswer);
  now_ms_ += 7'000;
  EXPECT_EQ(Next(), "") << "the pause grows";
  lane_.NoteAnswer();
  EXPECT_EQ(Next(), "d0");
  Deliver();
  EXPECT_EQ(Next(), "a0");
}

TEST_F(DeliveryLane, WhileTheDestinationDoesNotAnswerNoFailureCounts) {
  waiting_ = {{"a", 0}, {"b", 0}};
  lane_.NoteDown();
  EXPECT_EQ(Fail(Failure::kAnswered), Verdict::kWait);
  for (int i = 0; i < 10'000; ++i) {
    now_ms_ += 60'000;
    EXPECT_EQ(Fail(i % 2 == 0 ? Failure::kNoAnswer : Failure::kAnswered), Verdict::kWait);
    EXPECT_EQ(Next(), "") << "one attempt at a time";
  }
  lane_.NoteAnswer();
  now_ms_ += 60'000;
  EXPECT_EQ(Fail(Failure::kAnswered), Verdict::kCount);
}

TEST_F(DeliveryLane, ADestinationThatTakesNothingSaysNothingOfTheMessage) {
  waiting_ = {{"a", 0}, {"b", 0}};
  EXPECT_EQ(Fail(Failure::kOfEverything), Verdict::kWait);
  EXPECT_EQ(lane_.late(), 0);
  EXPECT_EQ(Next(), "");
  now_ms_ += 2'000;
  EXPECT_EQ(Next(), "a0");
}

}  // namespace
}  // namespace comanda::delivery
