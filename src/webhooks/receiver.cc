#include "webhooks/receiver.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace comanda::webhooks {
namespace {

// A wait that the wall clock says, after a restart: a clock that was wrong must not make it longer.
int64_t WaitLeft(const Delivery& delivery, UtcMs now) {
  constexpr int64_t kLongestMs = kRetryAfterMaxMs;
  return delivery.next_attempt_at
             ? std::clamp<int64_t>(*delivery.next_attempt_at - now, 0, kLongestMs)
             : 0;
}

}  // namespace

Receiver::Receiver(Subscription subscription, std::vector<Delivery> late, const Moment& moment)
    : subscription_(std::move(subscription)),
      read_seq_(subscription_.progress.settled_seq),
      stored_seq_(subscription_.progress.settled_seq),
      last_sequence_(subscription_.progress.sequence),
      lane_(kLaneRules, subscription_.progress.failures_in_a_row) {
  for (Delivery& delivery : late) {
    Item item{.delivery = std::move(delivery), .is_row = true};
    item.key = item.delivery.Key();
    item.delivery.failing.due_ms = moment.monotonic_ms + WaitLeft(item.delivery, moment.now);
    late_.push_back(std::move(item));
  }
}

// The window

bool Receiver::HasRoom() const { return window_.size() < kWindowItems; }

void Receiver::Append(Item item) {
  NoteNewer();
  item.key = item.delivery.Key();
  if (IsLateKey(item.key)) {
    item.is_row = true;
    item.delivery.state = State::kWaiting;
    changed_.push_back(item.delivery);
    is_dirty_ = true;
    late_.push_back(std::move(item));
    return;
  }
  window_.push_back(std::move(item));
}

void Receiver::Lose() {
  ++subscription_.progress.events_lost;
  ++lost_;
  is_dirty_ = true;
}

void Receiver::Advance() {
  while (!window_.empty() && window_.front().is_settled) window_.pop_front();
  Progress& progress = subscription_.progress;
  if (window_.empty()) {
    progress.settled_seq = read_seq_;
    progress.sequence = last_sequence_;
  } else {
    progress.settled_seq = window_.front().delivery.seq - 1;
    progress.sequence = window_.front().sequence_before;
  }
  subscription_.selection.ForgetBefore(progress.settled_seq);
}

void Receiver::SetStored(size_t changed, size_t delivered) {
  changed_.erase(changed_.begin(), changed_.begin() + static_cast<ptrdiff_t>(changed));
  delivered_.erase(delivered_.begin(), delivered_.begin() + static_cast<ptrdiff_t>(delivered));
  if (!changed_.empty()) return;
  is_dirty_ = false;
  lost_ = 0;
  lost_late_ = 0;
  stored_seq_ = subscription_.progress.settled_seq;
}

// Sending

bool Receiver::IsLateKey(std::string_view key) const {
  return std::ranges::any_of(late_,
                             [&](const Item& item) { return !item.is_settled && item.key == key; });
}

int64_t Receiver::CountLate() const {
  return std::ranges::count_if(late_, [](const Item& item) {
    return !item.is_settled && item.delivery.state == State::kLate;
  });
}

std::vector<outbox::Lane::Queued> Receiver::Queued(std::vector<Item*>& items) {
  std::vector<outbox::Lane::Queued> queued;
  for (std::deque<Item>* some : {&late_, &window_}) {
    for (Item& item : *some) {
      if (item.is_settled) continue;
      items.push_back(&item);
      queued.push_back({.key = item.key,
                        .due_ms = item.delivery.failing.due_ms,
                        .is_late = some == &late_ && item.delivery.state == State::kLate,
                        .is_under_way = item.is_under_way});
    }
  }
  return queued;
}

std::optional<int64_t> Receiver::DueMs(const Moment& moment) {
  if (!subscription_.Sends()) return std::nullopt;
  std::vector<Item*> items;
  return lane_.DueMs(Queued(items), moment.monotonic_ms);
}

Item* Receiver::Next(const Moment& moment) {
  if (!subscription_.Sends()) return nullptr;
  std::vector<Item*> items;
  const auto next = lane_.Next(Queued(items), moment.monotonic_ms);
  return next ? items[*next] : nullptr;
}

void Receiver::Begin(Item& item, const Moment& moment) {
  item.is_under_way = true;
  lane_.Begin(item.key, moment.monotonic_ms);
}

Item* Receiver::FindItem(std::string_view delivery_id) {
  for (std::deque<Item>* items : {&late_, &window_}) {
    const auto found = std::ranges::find_if(
        *items, [&](const Item& item) { return item.delivery.id == delivery_id; });
    if (found != items->end()) return &*found;
  }
  return nullptr;
}

void Receiver::Undo(std::string_view delivery_id) {
  Item* const item = FindItem(delivery_id);
  if (item == nullptr || !item->is_under_way) return;
  item->is_under_way = false;
  lane_.Undo();
}

void Receiver::GiveUp(std::string_view delivery_id, Attempt why, const Moment& moment) {
  Item* const item = FindItem(delivery_id);
  if (item == nullptr || !item->is_under_way) return;
  Undo(delivery_id);
  item->delivery.Add(std::move(why));
  Settle(*item, State::kDead, moment);
  if (item->is_row) ++lost_late_;
  Lose();
  DropSettled();
}

void Receiver::End(std::string_view delivery_id, Ended ended, const Moment& moment) {
  Item* const item = FindItem(delivery_id);
  if (item == nullptr || !item->is_under_way) return;
  item->is_under_way = false;
  is_dirty_ = true;
  Progress& progress = subscription_.progress;
  progress.last_outcome = ended.attempt.outcome;
  progress.last_status = ended.attempt.status;
  item->delivery.Add(ended.attempt);
  if (ended.is_acknowledged) {
    Succeed(*item, moment);
  } else {
    Fail(*item, ended, moment);
  }
  DropSettled();
}

void Receiver::DropSettled() {
  std::erase_if(late_, [](const Item& one) { return one.is_settled; });
  Advance();
}

void Receiver::Succeed(Item& item, const Moment& moment) {
  Progress& progress = subscription_.progress;
  const bool was_down = IsDown();
  const int64_t before_ms = std::exchange(progress.last_success_ms, moment.counted_ms);
  progress.last_delivery_at = moment.now;
  lane_.Succeed(CountLate());
  progress.failures_in_a_row = 0;
  progress.failing_ms = 0;
  progress.attempts_failed = 0;
  Settle(item, State::kDelivered, moment);
  if (!was_down) return;
  // What failed only because the receiver was down is due.
  for (Item& other : late_) {
    Delivery& late = other.delivery;
    if (other.is_settled || late.state != State::kLate) continue;
    if (late.failing.WasOvertaken(before_ms)) continue;
    late.failing.due_ms = moment.monotonic_ms;
    late.next_attempt_at = moment.now;
    changed_.push_back(late);
  }
}

void Receiver::Settle(Item& item, State state, const Moment& moment) {
  item.is_settled = true;
  item.delivery.state = state;
  item.delivery.next_attempt_at = std::nullopt;
  item.delivery.settled_at = moment.now;
  const bool is_only_logged = state == State::kDelivered && !item.is_row;
  if (!is_only_logged) return changed_.push_back(item.delivery);
  delivered_.push_back(item.delivery);
  if (delivered_.size() > kDeliveredKept) delivered_.pop_front();
}

void Receiver::Fail(Item& item, const Ended& ended, const Moment& moment) {
  Progress& progress = subscription_.progress;
  lane_.Fail();
  progress.failures_in_a_row = lane_.failures_in_a_row();
  ++progress.attempts_failed;
  outbox::Failing& failing = item.delivery.failing;
  const bool must_park = outbox::NoteFailure(failing, kPatience, progress.last_success_ms,
                                             ended.retry_after_ms, moment);
  const int64_t status = ended.attempt.status.value_or(0);
  constexpr int64_t kTooMany = 429, kUnavailable = 503;
  if (ended.retry_after_ms && (status == kTooMany || status == kUnavailable)) {
    lane_.Hold(failing.due_ms);
  }
  if (item.is_row) {
    if (must_park) {
      Settle(item, State::kDead, moment);
    } else {
      Postpone(item, moment);
    }
  } else if (!ended.is_gone && (!IsDown() || failing.WasOvertaken(progress.last_success_ms))) {
    MoveOut(std::string(item.key), moment);
  } else {
    // It failed because the receiver is down: it stays in the window, since the log keeps it, and
    // is due when the receiver is tried again.
    failing.due_ms = 0;
  }
  if (ended.is_gone) {
    progress.suspended = Suspended::kGone;
    progress.suspended_at = moment.now;
  }
}

void Receiver::Postpone(Item& item, const Moment& moment) {
  item.delivery.state = State::kLate;
  item.delivery.next_attempt_at = moment.now + (item.delivery.failing.due_ms - moment.monotonic_ms);
  changed_.push_back(item.delivery);
}

void Receiver::MoveOut(const std::string& key, const Moment& moment) {
  bool is_first = true;
  for (Item& item : window_) {
    if (item.is_settled || item.key != key) continue;
    item.is_settled = true;
    late_.push_back({.delivery = item.delivery, .key = item.key, .is_row = true});
    if (std::exchange(is_first, false)) {
      Postpone(late_.back(), moment);
    } else {
      changed_.push_back(late_.back().delivery);
    }
  }
}

void Receiver::SuspendIfFailing(const Moment& moment) {
  Progress& progress = subscription_.progress;
  const bool is_suspended = progress.suspended != Suspended::kNot;
  if (is_suspended || !MustSuspend(progress.failing_ms, progress.attempts_failed)) return;
  progress.suspended = Suspended::kFailing;
  progress.suspended_at = moment.now;
  is_dirty_ = true;
}

}  // namespace comanda::webhooks
