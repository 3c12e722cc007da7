#pragma once

// Which message goes next to one destination: a receiver of webhooks, a delivery app, the cloud.
//
// - Messages with the same key go one after another, in their order. Others may overtake them.
// - A message that fails while the destination answers others is late: it is tried again after
//   waits that grow, and the messages with its key wait behind it. When it has failed for long
//   enough (Patience), it is parked: a person decides.
// - A destination that answers nothing is down: then one message is tried at a time.
// - A destination may ask for a pause (Retry-After): nothing is sent before its end.
//
// Pure: no clock, no database, no network. The caller owns the messages and stores what must
// survive a restart.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace comanda::outbox {

// The moment of a decision.
struct Moment {
  UtcMs now = 0;             // for people
  int64_t monotonic_ms = 0;  // for waits
  int64_t counted_ms = 0;    // for limits that a restart does not extend (events/marks.h)
  uint64_t random = 0;       // uniform
};

inline constexpr int64_t kNeverFailed = INT64_MAX;

// The failures of one message.
struct Failing {
  int64_t failures = 0;
  // Counted time of its last failure before another message passed; of its last failure where none
  // has.
  int64_t since_ms = kNeverFailed;
  int64_t due_ms = 0;  // monotonic: it is not tried before

  // True if it has failed while other messages passed, the last one at that counted time.
  bool WasOvertaken(int64_t last_success_ms) const { return since_ms <= last_success_ms; }
  bool operator==(const Failing&) const = default;
};

// How long one message is tried: until it has failed for that time, or so often.
struct Patience {
  int64_t (*wait_ms)(int64_t failures, uint64_t random);  // after that many failures, from 1
  int64_t tried_for_ms = INT64_MAX;
  int64_t failures_max = INT64_MAX;
};

// Counts a failure. `last_success_ms`: the counted time of the last message that passed. A
// Retry-After replaces the wait. True if the message is to be parked.
bool NoteFailure(Failing& failing, const Patience& patience, int64_t last_success_ms,
                 std::optional<int64_t> retry_after_ms, const Moment& moment);

// When a destination counts as down, and how it is tried then.
struct LaneRules {
  size_t at_once_max = 1;  // messages under way; fewer after it was down
  // It is down after that many failures in a row, or after one while that many messages are late.
  // INT64_MAX: never; the caller holds the lane after a failure.
  int64_t down_after = INT64_MAX;
  int64_t down_late = INT64_MAX;
  // Messages that are not late go before those that are. For a destination that has moments
  // without messages: in a backlog, late ones would wait for its end.
  bool late_last = false;
  // Between the beginnings of two attempts at a destination that is down. `has_newer`: a message
  // came since the last one.
  int64_t (*wait_down_ms)(bool has_newer) = nullptr;
};
bool IsDown(const LaneRules& rules, int64_t failures_in_a_row, int64_t late);

// One thread.
class Lane {
 public:
  explicit Lane(const LaneRules& rules, int64_t failures_in_a_row = 0)
      : rules_(rules), failures_in_a_row_(failures_in_a_row) {}

  // A message as the caller lists it, those with the same key in their order.
  struct Queued {
    std::string_view key;
    int64_t due_ms = 0;  // monotonic
    bool is_late = false;
    bool is_under_way = false;
  };
  // The index of the message that may be sent now.
  std::optional<size_t> Next(std::span<const Queued> queued, int64_t now_ms) const;
  // When Next() may have another answer, monotonic and not before now; nothing: not before
  // something happens.
  std::optional<int64_t> DueMs(std::span<const Queued> queued, int64_t now_ms) const;

  // A message with that key is under way until Succeed(), Fail() or Undo().
  void Begin(std::string_view key, int64_t now_ms);
  size_t under_way() const { return under_way_; }
  // `late`: how many messages are late.
  void Succeed(int64_t late);
  void Fail();
  // The attempt was not made: it does not count.
  void Undo();

  // What another call to the destination says: it answers, does not, or takes no message now.
  void NoteAnswered() { failures_in_a_row_ = 0; }
  void NoteUnanswered() { ++failures_in_a_row_; }
  void NoteDown();

  bool IsDown(int64_t late) const { return outbox::IsDown(rules_, failures_in_a_row_, late); }
  int64_t failures_in_a_row() const { return failures_in_a_row_; }

  // Nothing is sent before; a later end that was set before stays.
  void Hold(int64_t until_ms);
  bool IsHeld(int64_t now_ms) const { return now_ms < hold_until_ms_; }
  int64_t held_until_ms() const { return hold_until_ms_; }
  // Forgets holds and failures: a person has asked for another attempt.
  void Release();

  // A message came since the last attempt.
  void NoteNewer() { last_.has_newer = true; }
  bool has_newer() const { return last_.has_newer; }

 private:
  // What decides when a destination that is down is tried again, and with what.
  struct Attempt {
    int64_t begun_ms = 0;  // monotonic; 0: none yet
    bool has_newer = false;
    std::string key;
  };

  size_t AtOnce(bool is_down) const;
  int64_t NextWhileDownMs() const;

  LaneRules rules_;
  int64_t failures_in_a_row_;
  int64_t successes_since_down_ = 1'000;
  int64_t hold_until_ms_ = 0;
  size_t under_way_ = 0;
  Attempt last_, before_last_;
};

}  // namespace comanda::outbox
