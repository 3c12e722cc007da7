// The deliverer with a real database, log and network, a receiver on loopback, and a clock that the
// test advances: what must hold after hours of failures, restarts and changes by the owner. The
// decisions alone, in many more histories: webhooks_outage_test.cc.

#include "webhooks/deliverer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/problem.h"
#include "base/time/settled_clock.h"
#include "events/log.h"
#include "events/marks.h"
#include "events/retention.h"
#include "support/restaurant_database.h"
#include "support/test_receiver.h"
#include "support/waiting.h"
#include "webhooks/store.h"
#include "webhooks/webhooks.h"

namespace comanda::webhooks {
namespace {

using std::chrono::steady_clock;
using testing::kCompany;

constexpr int64_t kSecondMs = 1'000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;

const bool kLong = std::getenv("COMANDA_LONG") != nullptr;

// The value of that name in a flat part of a message.
std::string ValueOf(const std::string& message, const std::string& name) {
  const size_t at = message.find("\"" + name + "\":");
  if (at == message.npos) return {};
  const size_t begin = at + name.size() + 3;
  const size_t end = message.find_first_of(",}", begin);
  return message.substr(begin, end - begin);
}

// What arrived, in order.
struct Arrived {
  std::string id, body, order;
  int64_t sequence = 0;
  bool is_acknowledged = false;
};

class WebhooksDeliverer : public ::testing::Test {
 protected:
  WebhooksDeliverer() {
    clock_.Advance(kMinuteMs);  // counted time 0 stands for a success that never was
    database_->SetAfterCommit([this] { feed_.Committed(); });
    options_.webhook_networks = {"127.0.0.1/32"};
    options_.webhook_signature_header = "X-Webhook-Signature";
    database_->Write([this](db::Tx& tx, const db::Stamp& stamp) {
      Draft draft;
      draft.url = receiver_.Url();
      id_ = Create(tx, kCompany, draft, stamp).id;
    });
    Begin();
  }
  ~WebhooksDeliverer() override {
    deliverer_.reset();
    network_.reset();
    database_.Close();
  }

  void Begin() {
    network_.emplace(heartbeats_, registry_.emplace());
    deliverer_.emplace(DelivererSettings{.name = "webhooks",
                                         .options = options_,
                                         .clock = settled_clock_,
                                         .database = *database_,
                                         .space = space_,
                                         .marks = marks_,
                                         .feed = feed_,
                                         .network = *network_,
                                         .graces = graces_,
                                         .read_body = [this](db::Session&, db::CompanyId,
                                                             int64_t) { return read_body_(); }},
                       heartbeats_, *registry_);
  }
  void Restart() {
    deliverer_.reset();
    network_.reset();
    Begin();
  }

  void Append(int64_t count) {
    database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (int64_t i = 0; i < count; ++i) {
        const std::string order = "o" + std::to_string(appended_++ % kOrders);
        events::Append(tx, kCompany, stamp,
                       {.company_uuid = testing::kCompanyId,
                        .type = events::Type::kOrderCreated,
                        .subject_id = order,
                        .body = R"({"id":")" + order + "\"}"});
      }
    });
  }
  // By the owner, as the API does it.
  void Change(const std::function<void(Draft&)>& fill) {
    database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      Draft draft;
      fill(draft);
      webhooks::Change(tx, graces_, kCompany, id_, draft, stamp);
    });
    deliverer_->NoteChange();
  }

  // Lets simulated time pass as fast as real time does, until the condition holds.
  bool Await(const std::function<bool()>& condition) {
    return testing::Await(
        [&] {
          if (condition()) return true;
          clock_.Advance(2);
          return false;
        },
        std::chrono::milliseconds(2));
  }
  int64_t arrived() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(arrived_.size());
  }
  Subscription Stored() {
    return database_->Read([&](db::Snapshot& snapshot) { return Get(snapshot, kCompany, id_); });
  }
  int64_t Backlog() {
    return database_->Read([&](db::Snapshot& snapshot) {
      return BehindOf(snapshot, kCompany, Get(snapshot, kCompany, id_)).backlog;
    });
  }

  // Returns once nothing has arrived for a while: what failed waits for the clock.
  void AwaitQuiet() {
    int64_t before = -1;
    while (std::exchange(before, arrived()) != arrived()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    }
  }

  // Every message is acknowledged, numbered without a gap, with the same id and bytes each time,
  // and first acknowledged behind the earlier ones of its order. Returns how many copies came more.
  int64_t Check() {
    const std::lock_guard lock(mutex_);
    std::map<int64_t, const Arrived*> first;
    std::map<std::string, int64_t> acknowledged;  // of each order, the last number
    int64_t copies = 0;
    for (const Arrived& one : arrived_) {
      const auto [known, is_new] = first.try_emplace(one.sequence, &one);
      EXPECT_EQ(known->second->id, one.id);
      EXPECT_EQ(known->second->body, one.body);
      if (!one.is_acknowledged) continue;
      int64_t& last = acknowledged[one.order];
      if (one.sequence <= last) {
        ++copies;
        continue;
      }
      // The orders take turns, so the one before in the same order is known.
      EXPECT_TRUE(last == 0 ? one.sequence <= kOrders : one.sequence == last + kOrders)
          << one.order << ": " << one.sequence << " behind " << last;
      last = one.sequence;
    }
    EXPECT_EQ(static_cast<int64_t>(first.size()), appended_);
    EXPECT_TRUE(first.empty() || first.rbegin()->first == appended_);
    int64_t lowest = appended_;
    for (const auto& [order, last] : acknowledged) lowest = std::min(lowest, last);
    EXPECT_GT(lowest, appended_ - kOrders);
    return copies;
  }

  static constexpr int64_t kOrders = 40;

  // Of an event whose stored body is damaged. Set before there is one.
  std::function<std::optional<std::string>()> read_body_ = [] { return std::nullopt; };
  std::mutex mutex_;
  std::vector<Arrived> arrived_;  // guarded by mutex_
  // Whether a request is acknowledged; called under the mutex.
  std::function<bool(const Arrived&)> answer_ = [](const Arrived&) { return true; };
  testing::TestReceiver receiver_{[this](testing::ReceiverConnection& connection) {
    while (true) {
      const std::string request = connection.Next();
      if (request.empty()) return;
      Arrived one;
      one.body = request.substr(request.find("\r\n\r\n") + 4);
      one.id = ValueOf(one.body, "event_id");
      one.sequence = std::strtoll(ValueOf(one.body, "sequence").c_str(), nullptr, 10);
      one.order = ValueOf(one.body, "data");
      {
        const std::lock_guard lock(mutex_);
        one.is_acknowledged = answer_(one);
        arrived_.push_back(one);
      }
      const std::string_view status = one.is_acknowledged
                                          ? "HTTP/1.1 204 OK\r\n\r\n"
                                          : "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";
      if (!connection.Write(status)) return;
    }
  }};

  testing::RestaurantDatabase database_;
  // The deliverer's own: a jump of the database's clock would end what is being read.
  testing::FakeClock clock_;
  SettledClock settled_clock_{clock_, [] { return false; }};
  Graces graces_{settled_clock_};
  Heartbeats heartbeats_{SystemClock()};
  config::Options options_;
  db::DiskSpace space_{{.directory = database_.directory.path(),
                        .low_bytes = 0,
                        .tight_bytes = 0,
                        .orders_only_bytes = 0,
                        .ballast_bytes = 0},
                       database_.registry};
  events::Marks marks_{*database_, clock_, 1};
  events::Feed feed_;
  std::string id_;
  int64_t appended_ = 0;
  std::optional<metrics::Registry> registry_;
  std::optional<net::Network> network_;
  std::optional<Deliverer> deliverer_;
};

TEST_F(WebhooksDeliverer, AReceiverThatWasDownFor71HoursGetsEverythingInOrder) {
  const int64_t events = kLong ? 100'000 : 2'000;
  Append(1);
  constexpr int64_t kSteps = 71 * 12;  // of five minutes
  {
    const std::lock_guard lock(mutex_);
    answer_ = [](const Arrived&) { return false; };
  }
  for (int64_t step = 0; step < kSteps; ++step) {
    // Not what arrived: an attempt that is under way now fails by the clock of the next step, and
    // nothing else is due in that one.
    const int64_t before = Stored().progress.attempts_failed;
    if (step % 4 == 3) Append(events * (step + 1) / kSteps - appended_);
    clock_.Advance(5 * kMinuteMs);
    if (step % 300 == 299) Restart();
    feed_.Committed();
    // An attempt that the jump has overtaken fails late, and the next one is minutes away.
    const auto has_failed = [&] {
      if (Stored().progress.attempts_failed > before) return true;
      clock_.Advance(50);
      return false;
    };
    ASSERT_TRUE(step % 10 != 0 || testing::Await(has_failed, std::chrono::milliseconds(2)))
        << step << ": " << arrived() << " arrived, " << before << " had failed";
  }
  AwaitQuiet();
  const int64_t failed = arrived();
  // At most one attempt every five minutes; the first attempts and those after a restart come
  // sooner.
  EXPECT_LE(failed, kSteps + 20);
  EXPECT_EQ(Stored().progress.suspended, Suspended::kNot);
  {
    const std::lock_guard lock(mutex_);
    answer_ = [](const Arrived&) { return true; };
  }
  const auto begin = steady_clock::now();
  clock_.Advance(5 * kMinuteMs);
  feed_.Committed();
  for (int64_t before = arrived(); before < failed + events; before = arrived()) {
    ASSERT_TRUE(Await([&] { return arrived() > before; })) << before - failed << " of " << events;
  }
  const double seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  ASSERT_TRUE(Await([&] { return Backlog() == 0; }));
  EXPECT_EQ(Check(), 0);
  const Progress progress = Stored().progress;
  EXPECT_EQ(progress.sequence, events);
  EXPECT_EQ(progress.events_lost, 0);
  std::printf("%ld events, %ld attempts in 71 h; then %.0f/s\n", static_cast<long>(events),
              static_cast<long>(failed), static_cast<double>(events) / seconds);
}

TEST_F(WebhooksDeliverer, AClockThatJumpsAMonthAheadForgetsNoDelivery) {
  const auto rows = [&] {
    return database_->Read([&](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM webhook_delivery WHERE webhook_id = $1", id_);
    });
  };
  Append(1);
  ASSERT_TRUE(Await([&] { return rows() == 1; }));
  clock_.SetWall(clock_.Now() + 30 * 24 * kHourMs);
  Append(1);
  ASSERT_TRUE(Await([&] { return Stored().progress.settled_seq == 2; }));
  EXPECT_EQ(rows(), 2);
}

// The second time that the body is read is right before the message is sent.
TEST_F(WebhooksDeliverer, AReadThatFailsBeforeAMessageIsSentLeavesNothingUnderWay) {
  const std::string body = R"({"id":"o0"})";
  std::atomic<int> reads = 0;
  read_body_ = [&] {
    if (++reads == 2) throw Fault(Fault::Kind::kUnavailable, "the disk does not answer");
    return std::optional(body);
  };
  database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    events::Append(tx, kCompany, stamp,
                   {.company_uuid = testing::kCompanyId,
                    .type = events::Type::kOrderCreated,
                    .subject_id = "o0",
                    .body = body});
    tx.Run("UPDATE event SET body = ''");
  });
  ASSERT_TRUE(Await([&] { return reads >= 2; }));
  EXPECT_TRUE(Await([&] { return Backlog() == 0; }));
  EXPECT_EQ(arrived(), 1);
  EXPECT_EQ(reads, 3);
}

TEST_F(WebhooksDeliverer, WhatIsPurgedUnsentIsCountedAndNoFailureOfTheReceiver) {
  constexpr int64_t kPurged = 6;
  {
    const std::lock_guard lock(mutex_);
    answer_ = [](const Arrived&) { return false; };
  }
  Append(kPurged);
  ASSERT_TRUE(Await([&] { return Stored().progress.failures_in_a_row >= 3; }));
  EXPECT_EQ(Backlog(), kPurged);  // some have rows, the log has the others
  for (int64_t hour = 0; hour < 8 * 24; ++hour) {
    clock_.Advance(kHourMs);
    marks_.MakeIfDue();
  }
  AwaitQuiet();
  static constexpr events::RecordKeeper kNoRecords = {
      .holds_record = [](db::Session&, db::CompanyId, std::string_view, int64_t) { return false; },
      .release_record = [](db::Tx&, db::CompanyId, std::string_view, UtcMs) { return false; }};
  events::Purge(*database_, clock_, marks_, feed_, kNoRecords);
  ASSERT_EQ(Stored().progress.settled_seq, kPurged);
  {
    const std::lock_guard lock(mutex_);
    answer_ = [](const Arrived&) { return true; };
  }
  Append(1);
  clock_.Advance(5 * kMinuteMs);
  feed_.Committed();
  ASSERT_TRUE(Await([&] { return Backlog() == 0; }));
  const Progress progress = Stored().progress;
  EXPECT_EQ(progress.sequence, kPurged + 1);
  EXPECT_EQ(progress.failures_in_a_row, 0);
  EXPECT_EQ(progress.events_lost, kPurged);
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(std::ranges::count_if(arrived_, &Arrived::is_acknowledged), 1);
  EXPECT_TRUE(arrived_.back().is_acknowledged && arrived_.back().sequence == kPurged + 1);
}

TEST_F(WebhooksDeliverer, NothingIsLostWhateverTheOwnerDoesMeanwhile) {
  const char* const seed = std::getenv("COMANDA_SEED");
  std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 10) : 1);
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
  std::mt19937_64 moods(random());
  std::string refused;
  int percent = 0;
  {
    const std::lock_guard lock(mutex_);
    answer_ = [&](const Arrived& one) {
      return one.order != refused && static_cast<int>(moods() % 100) >= percent;
    };
  }
  const int steps = kLong ? 5'000 : 400;
  for (int step = 0; step < steps; ++step) {
    Append(1 + below(8));
    switch (below(12)) {
      case 0:
        Change([](Draft& draft) { draft.is_active = false; });
        break;
      case 1:
      case 2:
        Change([](Draft& draft) { draft.is_active = true; });
        break;
      case 3:
        Change([](Draft& draft) { draft.rotates_secret = true; });
        break;
      case 4:
        Change([&](Draft& draft) { draft.ack_codes = std::vector<int>{}; });
        break;
      case 5: {
        const auto rows = database_->Read(
            [&](db::Snapshot& snapshot) { return store::Unsettled(snapshot, kCompany, id_); });
        if (rows.empty()) break;
        const std::string row = rows[static_cast<size_t>(below(rows.size()))].id;
        database_->Write(
            [&](db::Tx& tx, const db::Stamp& stamp) { Redeliver(tx, kCompany, id_, row, stamp); });
        deliverer_->NoteChange();
        break;
      }
      case 6: {
        const std::lock_guard lock(mutex_);
        refused = R"({"id":"o)" + std::to_string(below(kOrders)) + "\"";
        percent = static_cast<int>(below(3)) * 45;
        break;
      }
      case 7:
        if (below(4) == 0) Restart();
        break;
      case 8:
        clock_.Advance(below(kHourMs));
        feed_.Committed();
        break;
      default:
        clock_.Advance(below(2 * kSecondMs));
        std::this_thread::sleep_for(std::chrono::milliseconds(below(4)));
        break;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    answer_ = [](const Arrived&) { return true; };
  }
  for (int i = 0; i < 20 && Backlog() > 0; ++i) {
    Change([](Draft& draft) { draft.is_active = true; });
    const auto until = steady_clock::now() + std::chrono::seconds(2);
    Await([&] { return Backlog() == 0 || steady_clock::now() > until; });
  }
  EXPECT_EQ(Backlog(), 0);
  const int64_t copies = Check();
  const Progress progress = Stored().progress;
  EXPECT_EQ(progress.sequence, appended_);
  EXPECT_EQ(progress.events_lost, 0);
  EXPECT_EQ(progress.failures_in_a_row, 0);
  EXPECT_EQ(progress.last_outcome, Outcome::kAcknowledged);
  std::printf("%ld events, %ld attempts, %ld copies more\n", static_cast<long>(appended_),
              static_cast<long>(arrived()), static_cast<long>(copies));
}

}  // namespace
}  // namespace comanda::webhooks
