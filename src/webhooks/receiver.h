#pragma once

// What one subscription still has to send, in memory: the messages that are late, and a window of
// the log behind its position. Which message goes next is the lane's decision (outbox/lane.h); here
// is what the outcome of an attempt means for the rows and the position (contract section 13, Order
// and failure). No clock, no database, no network: the deliverer (deliverer.h) supplies them. One
// thread.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outbox/lane.h"
#include "webhooks/delivery.h"
#include "webhooks/schedule.h"
#include "webhooks/subscription.h"

namespace comanda::webhooks {

using outbox::Moment;

// A message in memory.
struct Item {
  Delivery delivery;
  std::string key;              // Delivery::Key(): thousands may be compared for each attempt
  int64_t sequence_before = 0;  // the last number before the messages of its event
  bool is_row = false;          // of the delivery log: it is late, or waits behind one that is
  bool is_under_way = false;
  bool is_settled = false;
};

// Messages with the same key are sent one after another; others may overtake. The first failure of
// a message moves all messages with its key out of the window, to rows of their own: it is late,
// and they wait behind it, while the window and the position go on. A receiver that keeps failing
// is down: then one message is tried at a time, and what fails stays in the window, since the log
// keeps it.
class Receiver {
 public:
  // `late`: the unsettled rows, by event.
  Receiver(Subscription subscription, std::vector<Delivery> late, const Moment& moment);

  const Subscription& subscription() const { return subscription_; }
  Progress& progress() { return subscription_.progress; }

  // The window

  static constexpr size_t kWindowItems = 64;
  // True if more events should be read from read_seq() on.
  bool HasRoom() const;
  int64_t read_seq() const { return read_seq_; }
  void SetRead(int64_t seq) { read_seq_ = seq; }
  // Takes up a message of the event that follows the last one, with its number.
  void Append(Item item);
  // Counts a message that cannot be sent, since its event is damaged: it keeps its number.
  void Lose();
  // True if only NoteNewer() can say that a newer message waits: the window is full.
  bool MissesNewer() const { return IsDown() && !lane_.has_newer() && !HasRoom(); }
  // A message came that was asked for, after the last attempt at a receiver that is down.
  void NoteNewer() { lane_.NoteNewer(); }
  int64_t TakeNumber() { return ++last_sequence_; }
  int64_t last_sequence() const { return last_sequence_; }

  // Sending

  // The next message that may be sent now; null: none. The pointer holds until the next call that
  // is not const.
  Item* Next(const Moment& moment);
  // The message counts as under way until End(), Undo() or GiveUp().
  void Begin(Item& item, const Moment& moment);
  size_t under_way() const { return lane_.under_way(); }
  bool IsDown() const { return lane_.IsDown(CountLate()); }
  bool last_attempt_failed() const { return subscription_.progress.failures_in_a_row > 0; }
  // When Next() may have another answer, by the monotonic clock; nothing: not before something
  // happens.
  std::optional<int64_t> DueMs(const Moment& moment);

  // The outcome of an attempt. `retry_after_ms`: what the receiver asked for.
  struct Ended {
    Attempt attempt;
    std::optional<int64_t> retry_after_ms;
    bool is_acknowledged = false;
    bool is_gone = false;  // status 410
  };
  void End(std::string_view delivery_id, Ended ended, const Moment& moment);
  // The attempt was not made: it does not count.
  void Undo(std::string_view delivery_id);
  // The message that was begun can never be sent, since its event is purged or damaged: it is dead,
  // and counts as lost. That says nothing about the receiver.
  void GiveUp(std::string_view delivery_id, Attempt why, const Moment& moment);

  // Adds time in which the receiver could have been reached and was failing.
  void AddFailing(int64_t ms) { subscription_.progress.failing_ms += ms; }
  // Suspends a receiver that has failed for long enough.
  void SuspendIfFailing(const Moment& moment);

  // Storing

  // Moves the position over what is settled, which makes room in the window. End() does it too: a
  // fast receiver does not wait until its progress is stored.
  void Advance();
  // How many events the position has moved over since it was stored.
  int64_t passed() const { return subscription_.progress.settled_seq - stored_seq_; }
  bool is_dirty() const { return is_dirty_; }
  // How many messages were lost since the progress was stored.
  int64_t lost() const { return lost_; }
  // Of these, those that had a row of their own: whoever moves the position does not count them.
  int64_t lost_late() const { return lost_late_; }
  // Rows that must be written before the position may pass them.
  const std::deque<Delivery>& changed() const { return changed_; }
  // What was delivered at the first attempt, for the log: the newest ones, where it comes faster
  // than it is stored.
  static constexpr size_t kDeliveredKept = 1'000;
  const std::deque<Delivery>& delivered() const { return delivered_; }
  // The first ones are stored; with the last of changed(), the progress is stored too.
  void SetStored(size_t changed, size_t delivered);

 private:
  // In the window or among the late ones; null: no longer there.
  Item* FindItem(std::string_view delivery_id);
  // What End() does with an acknowledgement, and with any other outcome.
  void Succeed(Item& item, const Moment& moment);
  void Fail(Item& item, const Ended& ended, const Moment& moment);
  // Forgets late messages that are settled, and advances.
  void DropSettled();
  // The message is late, and is tried again when it is due.
  void Postpone(Item& item, const Moment& moment);
  // The messages of the window with that key get rows of their own: the first is late, the others
  // wait behind it.
  void MoveOut(const std::string& key, const Moment& moment);
  // The message needs no further attempt. Its row, if it has one, is among changed().
  void Settle(Item& item, State state, const Moment& moment);
  // True if a message with that key is late: those that follow wait behind it.
  bool IsLateKey(std::string_view key) const;
  // Those that failed; those that wait behind them excluded.
  int64_t CountLate() const;
  // The unsettled messages as the lane sees them; `items`: these, in the same order.
  std::vector<outbox::Lane::Queued> Queued(std::vector<Item*>& items);

  Subscription subscription_;
  std::deque<Item> late_;    // rows of their own, by event
  std::deque<Item> window_;  // in the order of the log
  int64_t read_seq_ = 0;
  int64_t stored_seq_ = 0;  // the position as it is stored
  int64_t lost_ = 0;        // since then
  int64_t lost_late_ = 0;
  int64_t last_sequence_ = 0;
  std::deque<Delivery> changed_, delivered_;
  bool is_dirty_ = false;
  outbox::Lane lane_;
};

}  // namespace comanda::webhooks
