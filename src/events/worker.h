#pragma once

// The base of every background thread: readers of the event log (events/feed.h), and chores that
// run from time to time.
//
// A Worker calls its work repeatedly; one call is a pass. After a pass it sleeps until the time
// that the pass returned, until a commit if it follows a feed, or until it is stopped. If a pass
// throws, the worker logs and counts the failure and waits with exponential backoff and full
// jitter; a commit does not shorten that wait. The worker beats its heartbeat before each pass and
// while it sleeps; a pass that takes long calls Beat() itself.
//
// The position that a pass returns is shown in the metrics: a worker whose position stands still
// while the log grows is stuck.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "events/feed.h"
#include "net/backoff.h"

namespace comanda::events {

struct WorkerSettings {
  std::string name;                   // unique in the process: heartbeat, log, metrics
  int64_t heartbeat_max_ms = 60'000;  // the longest time between two beats of a pass
  net::Growth backoff = {};           // the wait after failures in a row
  Feed* feed = nullptr;               // its commits wake the worker; null: none. Outlives it.
  decltype(ReaderCalls::purged) purged = {};  // called by the feed
};

// Constructor and destructor may be called by any thread; `work` runs on the worker's own thread.
class Worker {
 public:
  // One call of the work. Used by the work, on the worker's thread.
  class Pass {
   public:
    // Beats the heartbeat. Throws Stopped if the worker is to end: the work must not catch it.
    // Stopped is no std::exception, so that `catch (const std::exception&)` lets it through.
    void Beat();
    // After a part of a long pass, so that requests get the processor and the writer: sleeps for as
    // long as the part took, 20 ms at most, and beats.
    void Rest(int64_t took_ms);
    // For functions that wait, such as net::Network::Send().
    const std::stop_token& stop() const { return stop_; }

   private:
    friend class Worker;
    Pass(Heartbeat& heartbeat, const std::stop_token& stop) : heartbeat_(heartbeat), stop_(stop) {}
    Heartbeat& heartbeat_;
    const std::stop_token& stop_;
  };
  struct Stopped {};

  // What a pass returns.
  struct Done {
    // The longest time until the next pass; 0: immediately; nothing: until the next commit.
    std::optional<int64_t> due_in_ms = std::nullopt;
    // The number of events handled: the sum of the readers' positions over all companies. Nothing:
    // there is no reader, so that commits do not wake the worker; Wake() does.
    std::optional<int64_t> position = std::nullopt;
  };
  using Work = std::function<Done(Pass& pass)>;

  // Starts the thread and the first pass. What `work` uses must outlive the worker. Throws
  // std::system_error where the system grants no thread.
  Worker(WorkerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry, Work work);
  // Ends the sleep; blocks until a pass under way has ended.
  ~Worker() = default;

  // Begins another pass soon, as a commit does. Any thread.
  void Wake();

 private:
  struct Metrics {
    Metrics(metrics::Registry& registry, const WorkerSettings& settings,
            const std::atomic<int64_t>& position);
    metrics::Counter passes;
    metrics::Counter failures;
    std::optional<metrics::Gauge> position;  // of a worker that follows a feed
  };

  void Run(const std::stop_token& stop);
  // Returns how long to sleep; nothing: until a commit.
  std::optional<int64_t> RunPass(const std::stop_token& stop);
  void Sleep(const std::stop_token& stop, std::optional<int64_t> ms);
  void Committed();  // on the writer's thread

  const WorkerSettings settings_;
  const Work work_;
  Heartbeat heartbeat_;
  std::atomic<int64_t> position_{0};
  std::atomic<bool> has_readers_{true};  // as the last pass said; true during one
  Metrics metrics_;
  int failures_in_a_row_ = 0;  // used by the thread alone

  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool is_woken_ = false;  // guarded by mutex_; a commit came, or Wake(), since the last pass began

  std::optional<Feed::Reader> reader_;
  std::jthread thread_;  // last: destroyed before the members that it uses
};

}  // namespace comanda::events
