#include "outbox/lane.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace comanda::outbox {
namespace {

constexpr int64_t kSecondMs = 1'000, kHourMs = 3'600'000;

int64_t WaitMs(int64_t failures, uint64_t) { return failures * 10 * kSecondMs; }
int64_t WaitDownMs(bool has_newer) { return has_newer ? 30 * kSecondMs : 300 * kSecondMs; }
constexpr Patience kPatience = {.wait_ms = WaitMs, .tried_for_ms = kHourMs};
constexpr LaneRules kFourAtOnce = {
    .at_once_max = 4, .down_after = 3, .down_late = 100, .wait_down_ms = WaitDownMs};

// A caller: its messages are named "order/number".
struct Message {
  std::string name;
  Failing failing = {};
  bool is_late = false;
  bool is_under_way = false;

  std::string Key() const { return name.substr(0, name.find('/')); }
};

class OutboxLane : public ::testing::Test {
 protected:
  void Add(std::initializer_list<const char*> names) {
    for (const char* name : names) messages.push_back({.name = name});
  }
  // The names of what is sent now.
  std::string Send() {
    std::string sent;
    while (const auto next = Next()) {
      Message& message = messages[*next];
      message.is_under_way = true;
      lane.Begin(message.Key(), now.monotonic_ms);
      sent += message.name + " ";
    }
    return sent;
  }
  std::optional<size_t> Next() {
    const std::vector<std::string> keys = Keys();
    return lane.Next(Queued(keys), now.monotonic_ms);
  }
  std::optional<int64_t> DueMs() {
    const std::vector<std::string> keys = Keys();
    return lane.DueMs(Queued(keys), now.monotonic_ms);
  }
  void Succeed(const std::string& name) {
    lane.Succeed(0);
    last_success_ms = now.counted_ms;
    std::erase_if(messages, [&](const Message& one) { return one.name == name; });
  }
  // False: it is to be parked, and is.
  bool Fail(const std::string& name) {
    lane.Fail();
    const auto message = std::ranges::find(messages, name, &Message::name);
    message->is_under_way = false;
    message->is_late = true;
    if (!NoteFailure(message->failing, kPatience, last_success_ms, std::nullopt, now)) return true;
    messages.erase(message);
    return false;
  }
  void NoteAnotherPassed() {
    lane.NoteAnswered();
    last_success_ms = now.counted_ms;
  }
  void Pass(int64_t ms) {
    now.now += ms;
    now.monotonic_ms += ms;
    now.counted_ms += ms;
  }

  std::vector<Message> messages;
  Lane lane{kFourAtOnce};
  Moment now = {.now = 1, .monotonic_ms = kSecondMs, .counted_ms = 2, .random = 0};
  int64_t last_success_ms = 1;

 private:
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const Message& message : messages) keys.push_back(message.Key());
    return keys;
  }
  std::vector<Lane::Queued> Queued(const std::vector<std::string>& keys) const {
    std::vector<Lane::Queued> queued;
    for (size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      queued.push_back({keys[i], message.failing.due_ms, message.is_late, message.is_under_way});
    }
    return queued;
  }
};

TEST_F(OutboxLane, SendsOneMessageOfAKeyAtATimeAndLetsOthersOvertake) {
  Add({"a/1", "a/2", "b/1", "c/1", "d/1", "e/1"});
  EXPECT_EQ(Send(), "a/1 b/1 c/1 d/1 ");
  Succeed("b/1");
  EXPECT_EQ(Send(), "e/1 ");
  Succeed("a/1");
  EXPECT_EQ(Send(), "a/2 ");
}

TEST_F(OutboxLane, ALateMessageHoldsUpItsOwnKeyAlone) {
  Add({"a/1", "a/2", "b/1"});
  EXPECT_EQ(Send(), "a/1 b/1 ");
  Succeed("b/1");
  EXPECT_TRUE(Fail("a/1"));
  Add({"a/3", "b/2"});
  EXPECT_EQ(Send(), "b/2 ");
  Succeed("b/2");
  EXPECT_EQ(DueMs(), now.monotonic_ms + 10 * kSecondMs);
  Pass(10 * kSecondMs);
  EXPECT_EQ(Send(), "a/1 ");
  Succeed("a/1");
  EXPECT_EQ(Send(), "a/2 ");
}

TEST_F(OutboxLane, AMessageIsParkedOnceItHasFailedForLongWhileOthersPassed) {
  Add({"a/1", "a/2"});
  Send();
  EXPECT_TRUE(Fail("a/1"));
  NoteAnotherPassed();
  Pass(kHourMs - 1);
  EXPECT_EQ(Send(), "a/1 ");
  EXPECT_TRUE(Fail("a/1"));
  NoteAnotherPassed();
  Pass(kHourMs);
  EXPECT_EQ(Send(), "a/1 ");
  EXPECT_FALSE(Fail("a/1"));
  EXPECT_EQ(Send(), "a/2 ") << "its key goes on";
}

TEST_F(OutboxLane, NothingIsParkedBecauseTheDestinationWasDown) {
  Add({"a/1"});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Send(), "a/1 ");
    ASSERT_TRUE(Fail("a/1"));
    Pass(kHourMs);
  }
}

TEST_F(OutboxLane, ADestinationThatIsDownGetsOneMessageAtATimeOfAnotherKeyEach) {
  Add({"a/1", "b/1", "c/1", "d/1"});
  EXPECT_EQ(Send(), "a/1 b/1 c/1 d/1 ");
  for (const char* name : {"a/1", "b/1", "c/1", "d/1"}) Fail(name);
  EXPECT_TRUE(lane.IsDown(0));
  EXPECT_EQ(Send(), "");
  for (const char* name : {"a/1 ", "b/1 ", "c/1 "}) {
    Pass(WaitDownMs(false) - 1);
    EXPECT_EQ(Send(), "");
    Pass(1);
    EXPECT_EQ(Send(), name);
    Fail(std::string(name).substr(0, 3));
  }
  lane.NoteNewer();
  Pass(WaitDownMs(true));
  EXPECT_EQ(Send(), "d/1 ");
  Succeed("d/1");
  EXPECT_FALSE(lane.IsDown(0));
  Pass(kHourMs);
  EXPECT_EQ(Send(), "a/1 b/1 ") << "two after the first success";
}

TEST_F(OutboxLane, AnAttemptThatWasNotMadeDoesNotCount) {
  Add({"a/1", "b/1", "c/1"});
  Send();
  for (const char* name : {"a/1", "b/1", "c/1"}) Fail(name);
  Pass(WaitDownMs(false));
  EXPECT_EQ(Send(), "a/1 ");
  lane.Undo();
  messages[0].is_under_way = false;
  EXPECT_EQ(Send(), "a/1 ");
}

TEST_F(OutboxLane, NothingIsSentBeforeTheEndOfAHold) {
  Add({"a/1"});
  lane.Hold(now.monotonic_ms + 60 * kSecondMs);
  lane.Hold(now.monotonic_ms + 5 * kSecondMs);
  EXPECT_EQ(Send(), "");
  EXPECT_EQ(DueMs(), now.monotonic_ms + 60 * kSecondMs);
  Pass(60 * kSecondMs);
  EXPECT_EQ(Send(), "a/1 ");
  lane.Hold(now.monotonic_ms + 60 * kSecondMs);
  lane.Release();
  EXPECT_FALSE(lane.IsHeld(now.monotonic_ms));
}

TEST_F(OutboxLane, WhatIsNotLateGoesFirstWhereTheRulesSaySo) {
  lane = Lane({.late_last = true});
  Add({"a/1", "b/1"});
  messages[0].is_late = true;
  EXPECT_EQ(Send(), "b/1 ");
  Succeed("b/1");
  EXPECT_EQ(Send(), "a/1 ");
}

TEST_F(OutboxLane, AMessageIsParkedAfterSoManyFailuresWhereThatIsTheLimit) {
  constexpr Patience kTwice = {.wait_ms = WaitMs, .failures_max = 2};
  Failing failing;
  EXPECT_FALSE(NoteFailure(failing, kTwice, 0, std::nullopt, now));
  EXPECT_TRUE(NoteFailure(failing, kTwice, 0, std::nullopt, now));
}

TEST_F(OutboxLane, ADestinationThatIsSaidToBeDownIsDownUntilItAnswers) {
  Add({"a/1"});
  lane.NoteDown();
  EXPECT_TRUE(lane.IsDown(0));
  EXPECT_EQ(Send(), "a/1 ");
  Fail("a/1");
  EXPECT_EQ(Send(), "");
  Pass(WaitMs(1, 0));
  EXPECT_EQ(Send(), "") << "its own wait is over, that of the destination is not";
  lane.NoteAnswered();
  EXPECT_EQ(Send(), "a/1 ");
}

// Whatever fails, hangs or is not made: of a key one message at a time goes out, in order, and
// every message goes out in the end.
TEST_F(OutboxLane, KeepsTheOrderOfEachKeyInEveryHistory) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    messages.clear();
    lane = Lane(seed % 2 == 0 ? kFourAtOnce : LaneRules{});
    std::map<std::string, int> sent;  // the number of the last message of each key
    for (int i = 0; i < 40; ++i) {
      const std::string key(1, static_cast<char>('a' + random() % 5));
      const auto number =
          std::ranges::count_if(messages, [&](const Message& one) { return one.Key() == key; });
      messages.push_back({.name = key + "/" + std::to_string(number + 1)});
    }
    for (int step = 0; step < 5'000 && !messages.empty(); ++step) {
      Pass(static_cast<int64_t>(random() % (20 * kSecondMs)));
      Send();
      std::map<std::string, int> under_way;
      for (const Message& message : messages) under_way[message.Key()] += message.is_under_way;
      for (const auto& [key, count] : under_way) ASSERT_LE(count, 1) << seed;
      const auto one = std::ranges::find_if(messages, &Message::is_under_way);
      if (one == messages.end()) continue;
      const std::string name = one->name;
      const uint64_t luck = random() % 10;
      if (luck == 0) {
        one->is_under_way = false;
        lane.Undo();
      } else if (luck < 4 && step < 2'000) {
        one->failing.since_ms = kNeverFailed;  // nothing is parked in these histories
        ASSERT_TRUE(Fail(name)) << seed;
      } else {
        ASSERT_EQ(std::stoi(name.substr(2)), ++sent[name.substr(0, 1)]) << seed;
        Succeed(name);
      }
    }
    ASSERT_TRUE(messages.empty()) << seed;
  }
}

}  // namespace
}  // namespace comanda::outbox
