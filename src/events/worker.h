#pragma once

// The base of every thread of our own that works in the background: those that follow the event log
// as readers (events/feed.h), and those that do chores from time to time.
//
// A Worker calls its work again and again, one pass after another. Between two passes it sleeps
// until the pass is due that the last one asked for, until a commit where it follows a feed, or
// until it is stopped. A pass that throws is logged and counted, and the worker waits before the
// next one with full jitter, longer with each failure in a row; a commit does not cut that wait
// short. The heartbeat is beaten around each pass and while the worker sleeps; a pass that takes
// long beats it itself.
//
// The position that a pass returns is shown in the metrics, so that a worker that is stuck is seen:
// the log's last seq goes on and its position does not.

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
  int64_t heartbeat_max_ms = 60'000;  // between two beats of a pass
  net::Growth backoff = {};           // of failures in a row
  Feed* feed = nullptr;               // commits wake the worker where there is one; outlives it
  decltype(ReaderCalls::purged) purged = {};  // as a reader of the feed
};

class Worker {
 public:
  // One run of the work. Used by the work on the worker's thread.
  class Pass {
   public:
    // To be called now and then. Throws Stopped where the worker is to end, which the work lets
    // pass through: it is no std::exception.
    void Beat();
    // For what waits: net::Network::Send(), for one.
    const std::stop_token& stop() const { return stop_; }

   private:
    friend class Worker;
    Pass(Heartbeat& heartbeat, const std::stop_token& stop) : heartbeat_(heartbeat), stop_(stop) {}
    Heartbeat& heartbeat_;
    const std::stop_token& stop_;
  };
  struct Stopped {};

  // What a pass leaves behind.
  struct Done {
    // The next pass comes at the latest after so long, at once where it is 0. Nothing: it comes
    // after the next commit.
    std::optional<int64_t> due_in_ms = std::nullopt;
    // The seq that all readers of this worker have handled, added up over the companies.
    int64_t position = 0;
  };
  using Work = std::function<Done(Pass& pass)>;

  // Starts the thread; the first pass comes at once. What `work` uses outlives the worker.
  Worker(WorkerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry, Work work);
  // Stops: ends the sleep, or waits for the pass under way.
  ~Worker() = default;

 private:
  struct Metrics {
    Metrics(metrics::Registry& registry, const WorkerSettings& settings,
            const std::atomic<int64_t>& position);
    metrics::Counter passes;
    metrics::Counter failures;
    std::optional<metrics::Gauge> position;  // of one that follows a feed
  };

  void Run(const std::stop_token& stop);
  // How long to sleep after it; nothing: until a commit.
  std::optional<int64_t> RunPass(const std::stop_token& stop);
  void Sleep(const std::stop_token& stop, std::optional<int64_t> ms);
  void Wake();

  const WorkerSettings settings_;
  const Work work_;
  Heartbeat heartbeat_;
  std::atomic<int64_t> position_{0};
  Metrics metrics_;
  int failures_in_a_row_ = 0;  // the thread's own

  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool has_commit_ = false;  // guarded by mutex_; since the last pass began

  std::optional<Feed::Reader> reader_;
  std::jthread thread_;  // behind all that it uses
};

}  // namespace comanda::events
