#include "events/worker.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "events/log.h"
#include "support/fake_clock.h"
#include "support/log_reader.h"
#include "support/waiting.h"

namespace comanda::events {
namespace {

using testing::Await;
using testing::AwaitBlocked;
using testing::kCompany;
using testing::LogReader;

class EventsWorker : public ::testing::Test {
 protected:
  EventsWorker() {
    database_->SetAfterCommit([this] { feed_.Committed(); });
  }
  ~EventsWorker() override { database_.Close(); }

  void Append(int count) {
    database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (int i = 0; i < count; ++i) {
        events::Append(tx, kCompany, stamp,
                       {.company_uuid = testing::kCompanyId,
                        .type = Type::kOrderCreated,
                        .subject_id = "s",
                        .body = "{}"});
      }
    });
  }

  WorkerSettings Follower() {
    return {.name = "printer", .backoff = {.first_ms = 20, .max_ms = 40}, .feed = &feed_};
  }
  // Pages of three, so that a pass leaves something to the next.
  Worker::Work Following(LogReader& reader) {
    return [&reader](Worker::Pass& pass) {
      pass.Beat();
      const bool at_end = reader.HandlePage(3);
      return Worker::Done{.due_in_ms = at_end ? std::nullopt : std::optional<int64_t>(0),
                          .position = reader.state().position};
    };
  }
  static bool ArrivesAt(const LogReader& reader, int64_t position) {
    return Await([&] { return reader.state().position == position; });
  }
  int64_t Metric(const std::string& name) const { return database_.Metric(name); }

  Heartbeats heartbeats_{SystemClock()};
  Feed feed_;
  testing::RestaurantDatabase database_;
};

TEST_F(EventsWorker, FollowsTheLogInOrderAndGoesOnAtItsPositionAfterARestart) {
  LogReader reader(*database_, "printer");
  Append(7);
  {
    const Worker worker(Follower(), heartbeats_, database_.registry, Following(reader));
    ASSERT_TRUE(ArrivesAt(reader, 7));
    for (int i = 0; i < 5; ++i) Append(1);
    ASSERT_TRUE(ArrivesAt(reader, 12));
  }
  Append(8);
  EXPECT_EQ(reader.state().position, 12);

  database_.Close();  // as after a restart of the process
  database_.Open();
  database_->SetAfterCommit([this] { feed_.Committed(); });
  LogReader again(*database_, "printer");
  const Worker worker(Follower(), heartbeats_, database_.registry, Following(again));
  ASSERT_TRUE(ArrivesAt(again, 20));

  std::vector<int64_t> all(20);
  std::iota(all.begin(), all.end(), 1);
  std::vector<int64_t> handled = reader.handled;
  handled.insert(handled.end(), again.handled.begin(), again.handled.end());
  EXPECT_EQ(handled, all);
}

TEST_F(EventsWorker, ShowsItsPosition) {
  LogReader reader(*database_, "printer");
  const Worker worker(Follower(), heartbeats_, database_.registry, Following(reader));
  EXPECT_EQ(Metric("comanda_worker_position"), 0);
  Append(4);
  ASSERT_TRUE(Await([&] { return Metric("comanda_worker_position") == 4; }));
  EXPECT_GE(Metric("comanda_worker_passes_total"), 2);
  EXPECT_EQ(Metric("comanda_worker_failures_total"), 0);
}

TEST_F(EventsWorker, WaitsAfterFailuresWhateverIsCommittedAndThenGoesOn) {
  LogReader reader(*database_, "printer");
  std::atomic<int> passes = 0;
  WorkerSettings settings = Follower();
  settings.backoff = {.first_ms = 60'000, .max_ms = 60'000};
  {
    const Worker worker(settings, heartbeats_, database_.registry, [&](Worker::Pass&) {
      ++passes;
      throw std::runtime_error("the printer is off");
      return Worker::Done{};
    });
    ASSERT_TRUE(Await([&] { return Metric("comanda_worker_failures_total") >= 1; }));
    for (int i = 0; i < 20; ++i) Append(1);
    // The wait is drawn from a minute: that two passes follow is improbable, twenty impossible.
    EXPECT_LT(passes, 5);
  }

  int failures_left = 5;
  const Worker worker(Follower(), heartbeats_, database_.registry, [&](Worker::Pass& pass) {
    if (failures_left-- > 0) throw std::runtime_error("the printer is off");
    return Following(reader)(pass);
  });
  ASSERT_TRUE(ArrivesAt(reader, 20));
  EXPECT_EQ(Metric("comanda_worker_failures_total"), 5);
}

TEST_F(EventsWorker, IsNotWokenByCommitsWhileItHasNoReader) {
  std::atomic<int> passes = 0;
  std::atomic<pid_t> thread = 0;
  std::atomic<bool> has_reader = false;
  Worker worker(Follower(), heartbeats_, database_.registry, [&](Worker::Pass&) {
    thread = ::gettid();
    ++passes;
    return has_reader ? Worker::Done{.position = 0} : Worker::Done{};
  });
  // A commit from before the worker may still be told during its first pass, which then makes
  // another.
  ASSERT_TRUE(Await([&] { return passes >= 1; }) && AwaitBlocked(thread)) << passes;
  const int without = passes;
  for (int i = 0; i < 20; ++i) Append(1);
  ASSERT_TRUE(AwaitBlocked(thread));  // a worker that is woken runs
  EXPECT_EQ(passes, without);

  has_reader = true;
  worker.Wake();
  ASSERT_TRUE(Await([&] { return passes > without; }) && AwaitBlocked(thread)) << passes;
  const int with = passes;
  Append(1);
  EXPECT_TRUE(Await([&] { return passes > with; })) << passes;
}

// A reader that is added may have read the log already when the commit comes.
TEST_F(EventsWorker, MissesNoCommitOfThePassThatAddsItsReader) {
  std::atomic<int> passes = 0;
  std::atomic<bool> has_reader = false, has_appended = false;
  std::atomic<pid_t> thread = 0;
  Worker worker(Follower(), heartbeats_, database_.registry, [&](Worker::Pass&) {
    thread = ::gettid();
    ++passes;
    if (!has_reader) return Worker::Done{};
    if (!has_appended.exchange(true)) Append(1);
    return Worker::Done{.position = 0};
  });
  ASSERT_TRUE(Await([&] { return passes >= 1; }) && AwaitBlocked(thread)) << passes;
  const int without = passes;
  has_reader = true;
  worker.Wake();
  EXPECT_TRUE(Await([&] { return passes >= without + 2; })) << passes;
}

TEST_F(EventsWorker, ComesBackWhenItIsDueWithoutACommit) {
  std::atomic<int> passes = 0;
  const Worker worker({.name = "chores"}, heartbeats_, database_.registry, [&](Worker::Pass&) {
    ++passes;
    return Worker::Done{.due_in_ms = 5};
  });
  Append(1);
  ASSERT_TRUE(Await([&] { return passes >= 4; }));
  EXPECT_EQ(Metric("comanda_worker_position"), -1);  // follows no log
}

TEST_F(EventsWorker, StopsAtOnceWhileItSleepsAndInThePassUnderWay) {
  const int64_t begin = SystemClock().MonotonicMs();
  {
    std::promise<void> ran;
    const Worker asleep({.name = "asleep"}, heartbeats_, database_.registry, [&](Worker::Pass&) {
      ran.set_value();
      return Worker::Done{.due_in_ms = 3'600'000};
    });
    ran.get_future().wait();
  }
  bool ended = false;
  {
    std::promise<void> ran;
    const Worker busy({.name = "busy"}, heartbeats_, database_.registry, [&](Worker::Pass& pass) {
      ran.set_value();
      while (true) {
        try {
          pass.Beat();
        } catch (const Worker::Stopped&) {
          ended = true;
          throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return Worker::Done{};
    });
    ran.get_future().wait();
  }
  EXPECT_TRUE(ended);
  EXPECT_LT(SystemClock().MonotonicMs() - begin, testing::kPatienceMs);
}

TEST_F(EventsWorker, BeatsWhileItSleepsAndGoesStaleInAPassThatHangs) {
  testing::FakeClock clock;
  Heartbeats heartbeats(clock);
  std::promise<void> release;
  std::promise<void> hanging;
  int passes = 0;
  Worker worker({.name = "slow", .heartbeat_max_ms = 60}, heartbeats, database_.registry,
                [&](Worker::Pass&) {
                  if (++passes == 2) {
                    hanging.set_value();
                    release.get_future().wait();
                  }
                  return Worker::Done{};
                });
  const auto is_fresh = [&] { return heartbeats.Stale().empty(); };
  for (int i = 0; i < 5; ++i) {
    clock.Advance(61);
    ASSERT_TRUE(Await(is_fresh)) << "asleep";
  }
  worker.Wake();
  hanging.get_future().wait();
  clock.Advance(61);
  EXPECT_EQ(heartbeats.Stale(), std::vector<std::string>{"slow"});
  release.set_value();
  EXPECT_TRUE(Await(is_fresh));
}

}  // namespace
}  // namespace comanda::events
