#include "events/worker.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/random.h"

namespace comanda::events {
namespace {

constexpr int64_t kRestMsMax = 20;

}  // namespace

void Worker::Pass::Beat() {
  heartbeat_.Beat();
  if (stop_.stop_requested()) throw Stopped();
}

void Worker::Pass::Rest(int64_t took_ms) {
  const int64_t rest_ms = std::clamp(took_ms, int64_t{1}, kRestMsMax);
  std::this_thread::sleep_for(std::chrono::milliseconds(rest_ms));
  Beat();
}

Worker::Metrics::Metrics(metrics::Registry& registry, const WorkerSettings& settings,
                         const std::atomic<int64_t>& shown_position)
    : passes(registry, "comanda_worker_passes_total", "Passes of background workers begun.",
             "worker=\"" + settings.name + "\""),
      failures(registry, "comanda_worker_failures_total",
               "Passes of background workers that threw.", "worker=\"" + settings.name + "\"") {
  if (settings.feed == nullptr) return;
  position.emplace(
      registry, "comanda_worker_position", "Events of the log that a worker has handled.",
      [&shown_position] { return static_cast<double>(shown_position.load()); },
      "worker=\"" + settings.name + "\"");
}

Worker::Worker(WorkerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry,
               Work work)
    : settings_(std::move(settings)),
      work_(std::move(work)),
      heartbeat_(heartbeats, settings_.name, settings_.heartbeat_max_ms),
      metrics_(registry, settings_, position_) {
  if (settings_.feed != nullptr) {
    reader_.emplace(*settings_.feed, settings_.name,
                    ReaderCalls{.committed = [this] { Committed(); }, .purged = settings_.purged});
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void Worker::Run(const std::stop_token& stop) try {
  while (!stop.stop_requested()) {
    {
      // Cleared before the pass: a commit during the pass leads to another one.
      const std::lock_guard lock(mutex_);
      is_woken_ = false;
    }
    const std::optional<int64_t> sleep_ms = RunPass(stop);
    Sleep(stop, sleep_ms);
  }
} catch (const Stopped&) {
  // Beat() threw it because the worker is to end.
}

std::optional<int64_t> Worker::RunPass(const std::stop_token& stop) {
  heartbeat_.Beat();
  metrics_.passes.Add();
  has_readers_ = true;  // this pass may add one, and have read the log when a commit comes
  try {
    Pass pass(heartbeat_, stop);
    const Done done = work_(pass);
    position_ = done.position.value_or(0);
    has_readers_ = done.position.has_value();
    failures_in_a_row_ = 0;
    return done.due_in_ms;
  } catch (const std::exception& error) {
    metrics_.failures.Add();
    ++failures_in_a_row_;
    const int64_t wait_ms =
        net::WaitWithFullJitter(settings_.backoff, failures_in_a_row_, RandomBelow(UINT64_MAX));
    log::Error("a background worker failed, and is tried again",
               {{"worker", settings_.name}, {"why", error.what()}, {"wait_ms", wait_ms}});
    return wait_ms;
  }
}

void Worker::Sleep(const std::stop_token& stop, std::optional<int64_t> ms) {
  using Clock = std::chrono::steady_clock;
  const auto beat_every = std::chrono::milliseconds(settings_.heartbeat_max_ms / 3);
  const auto end = Clock::now() + std::chrono::milliseconds(ms.value_or(0));
  const auto may_wake = [&] { return failures_in_a_row_ == 0 && is_woken_; };
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested() && !may_wake()) {
    heartbeat_.Beat();
    auto until = Clock::now() + beat_every;
    if (ms) until = std::min(until, end);
    woken_.wait_until(lock, stop, until, may_wake);
    if (ms && Clock::now() >= end) return;
  }
}

void Worker::Committed() {
  if (has_readers_) Wake();
}

void Worker::Wake() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_woken_, true)) return;
  }
  // Without the mutex, which the woken thread needs.
  woken_.notify_one();
}

}  // namespace comanda::events
