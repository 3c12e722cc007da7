// Random histories of a receiver and its messages: outages of minutes and days, orders that are
// refused always, slow ones, pauses that the receiver asks for, 410, kills, days off, pauses and
// redeliveries by the owner, purges of the log. Time is simulated; the log, the rows and the
// receiver at the other end are imitated; what is tested decides (receiver.h). After each step the
// history is compared with what the contract promises (section 13, Order and failure).
// COMANDA_SEED takes other histories, COMANDA_LONG more.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "webhooks/receiver.h"
#include "webhooks/schedule.h"

namespace comanda::webhooks {
namespace {

constexpr int64_t kSecondMs = 1'000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kNewerMs = 30 * kSecondMs;  // between attempts while down, a newer message waits
constexpr int64_t kNothingNewMs = 5 * kMinuteMs;
constexpr int64_t kAnswerMsMax = 52;  // of a receiver that does not hang
constexpr size_t kPageEvents = 32;

// What the contract lets a message wait at least after that many failures.
int64_t LeastWaitMs(int64_t failures) {
  constexpr std::array kWaits = {30 * kSecondMs, 5 * kMinuteMs, 30 * kMinuteMs, 2 * kHourMs};
  const int64_t full = failures <= 4 ? kWaits[static_cast<size_t>(failures - 1)] : 4 * kHourMs;
  return full * 9 / 10;
}

struct Event {
  int64_t seq = 0;
  std::string order;
  int messages = 1;
  int64_t sequence_before = 0;
};

// A message as the world knows it, whatever the program remembers.
struct Message {
  int64_t seq = 0;
  std::string order;
  int64_t sequence = 0;
  int64_t made_ms = 0;           // monotonic
  int acknowledged = 0;          // copies
  int64_t failures = 0;          // that the program remembers
  bool is_stored = false;        // its acknowledgement is, or its death
  bool is_dead = false;          // after 72 hours, or given up by the owner
  bool is_lost = false;          // counted in events_lost
  bool is_asked_again = false;   // by the owner
  bool is_overtaken = false;     // another message passed after it failed
  int64_t first_failed_ms = -1;  // counted
  int64_t due_ms = 0;            // monotonic; not earlier, unless all is due

  bool IsFinished() const { return acknowledged > 0 || is_dead || is_lost; }
};

struct Row {
  Delivery delivery;
  int64_t number = 0;
};

// What a database would hold.
struct Stored {
  Subscription subscription{.id = "w", .secrets = {}};
  std::map<std::string, Row> rows;
  int64_t last_number = 0;
};

enum class Failing : uint8_t { kNot, kRefuses, kHangs, kAsksToWait, kIsGone };

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    now_ = {.now = 1'800'000'000'000, .monotonic_ms = 1'000'000, .counted_ms = 1};
    Load();
    days_ = Chance(0.3) ? 12 : 1 + Below(3);
    is_busy_ = days_ < 3;
    for (int64_t i = Below(4); i > 0; --i) poisoned_.insert(OrderName(Below(kOrders)));
    if (Chance(0.5)) slow_.insert(OrderName(Below(kOrders)));
    PlanNext();
  }

  void Live() {
    const int64_t end_ms = now_.now + days_ * kDayMs;
    while (now_.now < end_ms && !Failed()) Step(end_ms);
    Heal();
    // The longest wait is a day; a pass behind each.
    const int64_t drained_ms = now_.now + 3 * kDayMs;
    while (now_.now < drained_ms && !Failed()) Step(drained_ms);
    CheckEnd();
  }

  struct Counts {
    int64_t messages = 0, attempts = 0, repeated = 0, dead = 0, lost = 0, kills = 0;
  };
  Counts counts;

 private:
  static constexpr int64_t kOrders = 12;

  static bool Failed() { return ::testing::Test::HasFailure(); }
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  bool Chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  int64_t About(int64_t ms) {
    return 1 + static_cast<int64_t>(
                   std::exponential_distribution<>(1.0 / static_cast<double>(ms))(random_));
  }
  static std::string OrderName(int64_t number) { return "o" + std::to_string(number); }

  // Time

  void Pass(int64_t ms) {
    now_.now += ms;
    now_.monotonic_ms += ms;
    now_.counted_ms += ms;
    now_.random = random_();
  }

  // Runs to the next moment at which anything happens.
  void Step(int64_t end) {
    int64_t next = std::min({next_event_ms_, next_weather_ms_, next_deed_ms_,
                             now_.monotonic_ms + end - now_.now, now_.monotonic_ms + kMinuteMs});
    for (const Flight& flight : flights_) next = std::min(next, flight.ends_ms);
    if (!is_stale_) next = std::min(next, receiver_->DueMs(now_).value_or(INT64_MAX));
    if (receiver_->is_dirty()) next = std::min(next, stored_ms_ + kSecondMs);
    // As the worker's shortest sleep; also so that a due time in the past does not stop the clock.
    const int64_t passed_ms =
        std::max<int64_t>(next - now_.monotonic_ms, flights_.empty() ? 100 : 1);
    Pass(passed_ms);
    if (now_.monotonic_ms >= next_event_ms_) Write();
    if (now_.monotonic_ms >= next_weather_ms_) ChangeWeather();
    Land();
    if (now_.monotonic_ms >= next_deed_ms_) {
      DoSomething();
      next_deed_ms_ = is_healed_ ? INT64_MAX : now_.monotonic_ms + About(4 * kHourMs);
    }
    Work(passed_ms);
  }

  // What the deliverer does in a pass.
  void Work(int64_t passed_ms) {
    if (is_stale_ && flights_.empty()) {
      Store();
      std::exchange(deed_, nullptr)();
      Load();
    }
    if (receiver_->last_attempt_failed() && receiver_->subscription().Sends()) {
      failing_ms_ += passed_ms;
      receiver_->AddFailing(passed_ms);
      receiver_->SuspendIfFailing(now_);
      if (!receiver_->subscription().Sends()) {
        ASSERT_GE(failing_ms_, kTriedForMs);
        ASSERT_GE(failed_attempts_, kAttemptsBeforeSuspension);
      }
    }
    if (!is_stale_ && receiver_->subscription().Sends()) {
      Refill();
      while (Item* const item = receiver_->Next(now_)) {
        if (item->delivery.seq <= purged_) {
          GiveUp(*item);
        } else {
          Send(*item);
        }
        if (Failed()) return;
      }
      CheckNobodyWaits();
    }
    if (now_.monotonic_ms - stored_ms_ >= kSecondMs) {
      receiver_->Advance();
      if (receiver_->is_dirty()) Store();
    }
    if (!receiver_->subscription().Sends() && !deed_ && Chance(is_healed_ ? 1 : 0.01)) Resume();
  }

  // The log

  void Write() {
    for (int64_t n = Chance(0.03) ? 1 + Below(150) : 1; n > 0; --n) {
      Event event{.seq = static_cast<int64_t>(log_.size()) + 1,
                  .order = OrderName(Below(kOrders)),
                  .messages = Chance(0.2) ? 2 : 1,
                  .sequence_before = sequence_};
      for (int i = 0; i < event.messages; ++i) {
        const std::string id = IdOf(event, i);
        messages_[id] = {.seq = event.seq,
                         .order = event.order,
                         .sequence = ++sequence_,
                         .made_ms = now_.monotonic_ms};
        by_order_[event.order].push_back(id);
        ++counts.messages;
      }
      log_.push_back(std::move(event));
    }
    has_newer_ = true;
    next_event_ms_ = now_.monotonic_ms + About(is_busy_ ? 10 * kMinuteMs : 2 * kHourMs);
  }
  static std::string IdOf(const Event& event, int number) {
    return "m" + std::to_string(event.seq) + "." + std::to_string(number);
  }

  void Refill() {
    while (receiver_->HasRoom()) {
      const auto begin = static_cast<size_t>(receiver_->read_seq());
      const size_t end = std::min(log_.size(), begin + kPageEvents);
      for (size_t i = begin; i < end; ++i) Take(log_[i]);
      receiver_->SetRead(static_cast<int64_t>(end));
      if (end == log_.size()) break;
    }
    if (receiver_->MissesNewer() && has_newer_) receiver_->NoteNewer();
  }
  void Take(const Event& event) {
    const int64_t before = receiver_->last_sequence();
    ASSERT_EQ(before, event.sequence_before) << event.seq;
    for (int i = 0; i < event.messages; ++i) {
      Item item;
      item.delivery = {.id = IdOf(event, i),
                       .seq = event.seq,
                       .kind = i == 0 ? Kind::kOrderUpdated : Kind::kOrderPaid,
                       .event_id = "e" + IdOf(event, i),
                       .subject_type = "order",
                       .subject_id = event.order,
                       .sequence = receiver_->TakeNumber(),
                       .created_at = now_.now};
      if (stored_.rows.contains(item.delivery.id)) continue;
      item.sequence_before = before;
      receiver_->Append(std::move(item));
    }
  }

  // Sending

  struct Flight {
    std::string id, key;
    int64_t ends_ms = 0;
    Receiver::Ended ended;
  };

  void Send(Item& item) {
    const std::string id = item.delivery.id;
    Message& message = messages_.at(id);
    SCOPED_TRACE(id + " of " + message.order + " at " + std::to_string(now_.monotonic_ms));
    ASSERT_EQ(item.delivery.event_id, "e" + id);
    ASSERT_EQ(item.delivery.sequence, message.sequence);
    ASSERT_LT(flights_.size(), kAtOnceMax);
    if (receiver_->IsDown()) {
      ASSERT_TRUE(flights_.empty()) << "two at once to a receiver that is down";
      if (attempt_ms_) {
        // What is read from the log behind a full window counts as newer, too.
        const bool has_newer = has_newer_ || !had_read_all_;
        ASSERT_GE(now_.monotonic_ms - *attempt_ms_, has_newer ? kNewerMs : kNothingNewMs);
      }
    } else {
      ASSERT_GE(now_.monotonic_ms, message.due_ms) << "before its wait was over";
    }
    ASSERT_GE(now_.monotonic_ms, hold_until_ms_) << "in the pause that the receiver asked for";
    ASSERT_FALSE(message.is_stored) << "its outcome was stored";
    ASSERT_FALSE(message.is_lost);
    for (const Flight& other : flights_) ASSERT_NE(other.key, item.delivery.Key());
    for (const std::string& earlier : UnfinishedOf(message.order)) {
      if (messages_.at(earlier).sequence >= message.sequence) break;
      ASSERT_TRUE(messages_.at(earlier).IsFinished()) << "before " << earlier;
    }
    receiver_->Begin(item, now_);
    attempt_ms_ = now_.monotonic_ms;
    had_read_all_ = receiver_->read_seq() == static_cast<int64_t>(log_.size());
    has_newer_ = false;
    ++counts.attempts;
    flights_.push_back(Answer(item.delivery));
  }

  const std::deque<std::string>& UnfinishedOf(const std::string& order) {
    std::deque<std::string>& ids = by_order_[order];
    while (!ids.empty() && messages_.at(ids.front()).IsFinished()) ids.pop_front();
    return ids;
  }

  Flight Answer(const Delivery& delivery) {
    Flight flight{.id = delivery.id, .key = delivery.Key(), .ended = {}};
    Receiver::Ended& ended = flight.ended;
    ended.attempt.at = now_.now;
    ended.attempt.outcome = Outcome::kRefusedStatus;
    ended.attempt.status = 500;
    flight.ends_ms = now_.monotonic_ms + 2 + Below(kAnswerMsMax - 2);
    if (failing_ == Failing::kHangs) {
      ended.attempt.outcome = Outcome::kTimeout;
      ended.attempt.status = std::nullopt;
      flight.ends_ms = now_.monotonic_ms + 10 * kSecondMs;
    } else if (failing_ == Failing::kAsksToWait) {
      ended.attempt.status = Chance(0.5) ? 503 : 429;
      ended.retry_after_ms = Chance(0.1) ? kRetryAfterMaxMs : About(2 * kMinuteMs);
    } else if (failing_ == Failing::kIsGone) {
      ended.attempt.status = 410;
      ended.is_gone = true;
    } else if (failing_ == Failing::kNot && !poisoned_.contains(delivery.subject_id) &&
               !(Chance(0.02) && !is_healed_)) {
      ended.is_acknowledged = true;
      ended.attempt.outcome = Outcome::kAcknowledged;
      ended.attempt.status = 204;
      if (slow_.contains(delivery.subject_id)) flight.ends_ms += 9 * kSecondMs;
    } else if (Chance(0.1)) {
      ended.retry_after_ms = About(kHourMs);
    }
    return flight;
  }

  void Land() {
    for (size_t i = 0; i < flights_.size();) {
      if (flights_[i].ends_ms > now_.monotonic_ms) {
        ++i;
        continue;
      }
      const Flight flight = flights_[i];
      flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(i));
      End(flight);
    }
  }

  void End(const Flight& flight) {
    Message& message = messages_.at(flight.id);
    const bool was_down = receiver_->IsDown();
    receiver_->End(flight.id, flight.ended, now_);
    if (flight.ended.is_acknowledged) {
      if (message.acknowledged++ > 0) ++counts.repeated;
      failing_ms_ = failed_attempts_ = 0;
      failed_.erase(flight.id);
      for (const std::string& id : failed_) {
        Message& other = messages_.at(id);
        if (was_down && !other.is_overtaken) other.due_ms = 0;
        other.is_overtaken = true;
      }
      return;
    }
    ++failed_attempts_;
    ++message.failures;
    const int64_t wait_ms = flight.ended.retry_after_ms.value_or(LeastWaitMs(message.failures));
    const int64_t status = flight.ended.attempt.status.value_or(0);
    if (flight.ended.retry_after_ms && (status == 429 || status == 503)) {
      hold_until_ms_ = std::max(hold_until_ms_, now_.monotonic_ms + wait_ms);
    }
    const auto is_dead = [&](const Delivery& row) {
      return row.id == flight.id && row.state == State::kDead;
    };
    if (std::ranges::any_of(receiver_->changed(), is_dead)) return CheckDead(flight.id, message);
    if (message.first_failed_ms < 0) message.first_failed_ms = now_.counted_ms;
    failed_.insert(flight.id);
    message.due_ms = now_.monotonic_ms + wait_ms;
  }

  // While the receiver is well, what has never failed is kept waiting by its own order alone.
  void CheckNobodyWaits() {
    for (const std::string& id : failed_) {
      blocked_ms_[messages_.at(id).order] = now_.monotonic_ms;
    }
    if (failing_ != Failing::kNot) return;
    const int64_t well_since_ms = std::max({well_since_ms_, hold_until_ms_, sends_since_ms_});
    for (int64_t n = 0; n < kOrders; ++n) {
      const std::string order = OrderName(n);
      const std::deque<std::string>& ids = UnfinishedOf(order);
      if (ids.empty() || poisoned_.contains(order) || slow_.contains(order)) continue;
      const Message& message = messages_.at(ids.front());
      const int64_t since_ms = std::max({message.made_ms, well_since_ms, blocked_ms_[order]});
      // Each order may be tried before it, if the receiver counts as down; each attempt takes a
      // while.
      constexpr int64_t kLongestMs = (kOrders + 1) * (kNothingNewMs + kAnswerMsMax);
      ASSERT_LE(now_.monotonic_ms - since_ms, kLongestMs)
          << ids.front() << " of " << order << " waits";
    }
  }

  // Storing

  // Rows are stored in pieces: the progress with the last changed one, what was delivered later.
  void StoreRows(size_t changed, size_t delivered) {
    for (size_t i = 0; i < changed; ++i) StoreRow(receiver_->changed()[i]);
    for (size_t i = 0; i < delivered; ++i) StoreRow(receiver_->delivered()[i]);
  }
  void StoreRow(const Delivery& delivery) {
    Row& row = stored_.rows[delivery.id];
    if (row.number == 0) row.number = ++stored_.last_number;
    row.delivery = delivery;
    Message& message = messages_.at(delivery.id);
    if (delivery.state == State::kDelivered) {
      ASSERT_GT(message.acknowledged, 0) << delivery.id << " was not acknowledged";
    }
    if (delivery.state == State::kDelivered || delivery.state == State::kDead) {
      message.is_stored = true;
      message.is_asked_again = false;
    }
  }
  size_t Part(size_t size) { return static_cast<size_t>(Below(1 + static_cast<int64_t>(size))); }
  void Store() {
    receiver_->Advance();
    const Progress& progress = receiver_->progress();
    const size_t changed = receiver_->changed().size();
    const size_t delivered = Part(receiver_->delivered().size());
    StoreRows(changed, delivered);
    const int64_t before = stored_.subscription.progress.settled_seq;
    ASSERT_GE(progress.settled_seq, before);
    for (int64_t seq = before + 1; seq <= progress.settled_seq; ++seq) CheckPassed(LogAt(seq));
    ASSERT_EQ(progress.sequence, SequenceAt(progress.settled_seq));
    stored_.subscription = receiver_->subscription();
    receiver_->SetStored(changed, delivered);
    stored_ms_ = now_.monotonic_ms;
  }
  const Event& LogAt(int64_t seq) const { return log_[static_cast<size_t>(seq - 1)]; }
  int64_t SequenceAt(int64_t seq) const {
    return seq == static_cast<int64_t>(log_.size()) ? sequence_ : LogAt(seq + 1).sequence_before;
  }
  // What the position passes must be finished, or have a row from which it is tried again.
  void CheckPassed(const Event& event) {
    for (int i = 0; i < event.messages; ++i) {
      const std::string id = IdOf(event, i);
      const auto row = stored_.rows.find(id);
      Message& message = messages_.at(id);
      if (row == stored_.rows.end()) {
        ASSERT_GT(message.acknowledged, 0) << "passed without a row: " << id;
        message.is_stored = true;
        continue;
      }
      ASSERT_TRUE(!row->second.delivery.settled_at || message.IsFinished()) << id;
    }
  }
  void CheckDead(const std::string& id, Message& message) {
    ASSERT_TRUE(message.is_overtaken) << id << " died though nothing passed";
    ASSERT_GE(now_.counted_ms - message.first_failed_ms, kTriedForMs) << id;
    message.is_dead = true;
    ++counts.dead;
  }

  // Builds the receiver from what is stored.
  void Load() {
    std::vector<const Row*> unsettled;
    for (const auto& [id, row] : stored_.rows) {
      if (!row.delivery.settled_at) unsettled.push_back(&row);
    }
    std::ranges::sort(unsettled, {},
                      [](const Row* row) { return std::pair(row->delivery.seq, row->number); });
    std::vector<Delivery> late;
    for (const Row* row : unsettled) late.push_back(row->delivery);
    receiver_.emplace(stored_.subscription, std::move(late), now_);
    attempt_ms_.reset();
    hold_until_ms_ = 0;
    is_stale_ = false;
    sends_since_ms_ = now_.monotonic_ms;
    // A failure that was not stored is forgotten, with its wait.
    for (const std::string& id : failed_) {
      Message& message = messages_.at(id);
      message.failures = message.due_ms = 0;
      message.first_failed_ms = -1;
      message.is_overtaken = false;
    }
    failed_.clear();
    for (const Row* row : unsettled) {
      const Delivery& delivery = row->delivery;
      if (delivery.state != State::kLate) continue;
      Message& message = messages_.at(delivery.id);
      message.failures = delivery.failing.failures;
      message.due_ms = now_.monotonic_ms + *delivery.next_attempt_at - now_.now;
      if (delivery.failing.since_ms == kNeverFailed) continue;
      message.first_failed_ms = delivery.failing.since_ms;
      message.is_overtaken = delivery.failing.WasOvertaken(receiver_->progress().last_success_ms);
      failed_.insert(delivery.id);
    }
  }

  // What happens

  void ChangeWeather() {
    const bool fails = failing_ == Failing::kNot && !is_healed_;
    failing_ = fails ? static_cast<Failing>(1 + Below(4)) : Failing::kNot;
    if (!fails) well_since_ms_ = now_.monotonic_ms;
    const int64_t about_ms = Chance(0.2) ? kDayMs : Chance(0.5) ? kHourMs : 5 * kMinuteMs;
    next_weather_ms_ = is_healed_ ? INT64_MAX : now_.monotonic_ms + About(about_ms);
  }

  void DoSomething() {
    if (deed_) return;
    switch (Below(7)) {
      case 0:
        return Kill();
      case 1:
        return Store(), Restart();
      case 2:
        return Ask([this] { stored_.subscription.configuration.is_active = false; });
      case 3:
        return Resume();
      case 4:
        return Ask([this] { Redeliver(); });
      case 5:
        return Ask([this] { Purge(); });
      default:
        return Ask([] {});  // another name, say: nothing that concerns deliveries
    }
  }
  // What the owner asks for is taken up when nothing is under way.
  void Ask(std::function<void()> deed) {
    deed_ = std::move(deed);
    is_stale_ = true;
  }
  void Resume() {
    Ask([this] {
      Progress& progress = stored_.subscription.progress;
      progress.failures_in_a_row = progress.failing_ms = progress.attempts_failed = 0;
      progress.suspended = Suspended::kNot;
      stored_.subscription.configuration.is_active = true;
      for (auto& [id, row] : stored_.rows) {
        if (row.delivery.state != State::kLate) continue;
        MakeDue(id, row);
      }
      failing_ms_ = failed_attempts_ = 0;
    });
  }
  void MakeDue(const std::string& id, Row& row) {
    row.delivery.failing.since_ms = kNeverFailed;
    row.delivery.next_attempt_at = now_.now;
    messages_.at(id).first_failed_ms = -1;
    messages_.at(id).is_overtaken = false;
  }
  void GiveUp(Item& item) {
    Message& message = messages_.at(item.delivery.id);
    message.is_lost = true;
    message.is_asked_again = false;
    failed_.erase(item.delivery.id);
    receiver_->Begin(item, now_);
    receiver_->GiveUp(item.delivery.id, {}, now_);
  }
  void Redeliver() {
    if (stored_.rows.empty()) return;
    auto row = stored_.rows.begin();
    std::advance(row, Below(static_cast<int64_t>(stored_.rows.size())));
    Message& message = messages_.at(row->first);
    if (message.seq <= purged_ || message.is_lost) return;
    row->second.delivery.state = State::kLate;
    row->second.delivery.failing.failures = 0;
    row->second.delivery.settled_at.reset();
    MakeDue(row->first, row->second);
    message.is_stored = false;
    message.is_asked_again = true;
  }
  // As after a week: what is not sent is lost, and counted.
  void Purge() {
    Progress& progress = stored_.subscription.progress;
    const int64_t last = purged_ + Below(static_cast<int64_t>(log_.size()) - purged_ + 1);
    for (int64_t seq = progress.settled_seq + 1; seq <= last; ++seq) {
      for (int i = 0; i < LogAt(seq).messages; ++i) {
        const std::string id = IdOf(LogAt(seq), i);
        if (stored_.rows.contains(id)) continue;
        ++progress.events_lost;
        messages_.at(id).is_lost = true;
      }
    }
    purged_ = last;
    if (progress.settled_seq >= last) return;
    progress.settled_seq = last;
    progress.sequence = SequenceAt(last);
  }
  // The receiver may have got what was under way.
  void Kill() {
    ++counts.kills;
    if (Chance(0.3)) StoreRows(Part(receiver_->changed().size()), 0);
    for (const Flight& flight : flights_) {
      Message& message = messages_.at(flight.id);
      if (flight.ended.is_acknowledged && Chance(0.5) && message.acknowledged++ > 0) {
        ++counts.repeated;
      }
    }
    Restart();
  }
  void Restart() {
    flights_.clear();
    deed_ = nullptr;
    const int64_t off_ms = Chance(0.3) ? About(kDayMs) : 100;
    const int64_t counted_ms = now_.counted_ms;
    Pass(off_ms);
    // Time off counts only where the wall clock is known to have been right.
    if (Chance(0.5)) now_.counted_ms = counted_ms;
    failing_ms_ = stored_.subscription.progress.failing_ms;
    failed_attempts_ = stored_.subscription.progress.attempts_failed;
    Load();
  }
  void Heal() {
    is_healed_ = true;
    failing_ = Failing::kNot;
    poisoned_.clear();
    slow_.clear();
    well_since_ms_ = now_.monotonic_ms;
    next_event_ms_ = next_weather_ms_ = next_deed_ms_ = INT64_MAX;
  }
  void PlanNext() {
    next_event_ms_ = now_.monotonic_ms;
    next_weather_ms_ = now_.monotonic_ms + About(2 * kHourMs);
    next_deed_ms_ = now_.monotonic_ms + About(2 * kHourMs);
  }

  void CheckEnd() {
    if (Failed()) return;
    int64_t lost = 0;
    for (const auto& [id, message] : messages_) {
      ASSERT_TRUE(message.IsFinished() && !message.is_asked_again)
          << id << " of " << message.order << " never arrived";
      lost += message.is_lost;
    }
    for (const auto& [id, row] : stored_.rows) {
      ASSERT_TRUE(row.delivery.settled_at) << id << ' ' << Name(row.delivery.state);
    }
    const Progress& progress = stored_.subscription.progress;
    EXPECT_EQ(progress.settled_seq, static_cast<int64_t>(log_.size()));
    EXPECT_EQ(progress.sequence, sequence_);
    EXPECT_EQ(progress.events_lost, lost);
    EXPECT_TRUE(flights_.empty());
    counts.lost = lost;
  }

  std::mt19937_64 random_;
  Moment now_;
  int64_t days_ = 1;
  bool is_busy_ = false, is_healed_ = false;
  std::set<std::string> poisoned_, slow_;
  Failing failing_ = Failing::kNot;
  int64_t next_event_ms_ = 0, next_weather_ms_ = 0, next_deed_ms_ = 0;

  std::vector<Event> log_;
  int64_t sequence_ = 0;  // of the last message
  int64_t purged_ = 0;    // the last event that is not kept
  std::map<std::string, Message> messages_;
  // The ids of each order's messages, by event. Finished ones are removed from the front.
  std::map<std::string, std::deque<std::string>> by_order_;
  std::map<std::string, int64_t> blocked_ms_;  // when an order's own failure last held it up
  std::set<std::string> failed_;               // messages that the program remembers to have failed

  Stored stored_;
  std::optional<Receiver> receiver_;
  std::vector<Flight> flights_;
  std::function<void()> deed_;  // what the owner asked for
  bool is_stale_ = false;       // until that is done
  int64_t stored_ms_ = 0;

  // What the contract counts
  int64_t failing_ms_ = 0, failed_attempts_ = 0;
  int64_t hold_until_ms_ = 0, well_since_ms_ = 0, sends_since_ms_ = 0;
  std::optional<int64_t> attempt_ms_;  // of the last attempt since the receiver was loaded
  bool has_newer_ = false;             // since that attempt
  bool had_read_all_ = false;          // at that attempt
};

TEST(WebhooksOutage, NothingIsLostOutOfOrderOrTooEarlyInAnyHistory) {
  const char* const seed_text = std::getenv("COMANDA_SEED");
  const uint64_t first = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  // Fewer under sanitizers, as of those of the clock (scripts/test).
  const bool is_slow = std::getenv("COMANDA_HISTORIES") != nullptr;
  const uint64_t count = std::getenv("COMANDA_LONG") ? 10'000 : is_slow ? 40 : 150;
  History::Counts sum;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("COMANDA_SEED=" + std::to_string(seed));
    History history(seed);
    history.Live();
    if (::testing::Test::HasFailure()) return;
    sum.messages += history.counts.messages;
    sum.attempts += history.counts.attempts;
    sum.repeated += history.counts.repeated;
    sum.dead += history.counts.dead;
    sum.lost += history.counts.lost;
    sum.kills += history.counts.kills;
  }
  std::printf(
      "%lu histories: %ld messages, %ld attempts, %ld copies more, %ld dead, %ld lost, %ld kills\n",
      static_cast<unsigned long>(count), static_cast<long>(sum.messages),
      static_cast<long>(sum.attempts), static_cast<long>(sum.repeated), static_cast<long>(sum.dead),
      static_cast<long>(sum.lost), static_cast<long>(sum.kills));
  // Histories in which nothing happens would prove nothing.
  EXPECT_GT(sum.repeated, 0);
  EXPECT_TRUE(sum.dead > 0 || count < 1'000);  // they are rare
  EXPECT_GT(sum.lost, 0);
  EXPECT_GT(sum.attempts, sum.messages);
}

}  // namespace
}  // namespace comanda::webhooks
