#include "db/writer.h"

#include "base/check.h"
#include "base/problem.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

namespace comanda::db {
namespace {

constexpr std::chrono::seconds kIdleTick{1};
constexpr int64_t kHeartbeatMaxMs = 60'000;

}  // namespace

Writer::Metrics::Metrics(metrics::Registry& registry, const std::string& labels)
    : jobs(registry, "comanda_db_jobs_total",
           "Write jobs answered; by commits it is the mean size of a group.", labels),
      refused(registry, "comanda_db_jobs_refused_total",
              "Write jobs refused because the queue was full.", labels) {}

Writer::Writer(const Settings& settings, ChangeCounters& counters, const Clock& clock,
               Heartbeats& heartbeats, metrics::Registry& metrics)
    : settings_(settings),
      clock_(clock),
      file_(settings.FileName()),
      heartbeat_(heartbeats, "writer of " + file_, kHeartbeatMaxMs),
      metrics_(metrics, settings.MetricLabels()),
      queue_gauge_(
          metrics, "comanda_db_queue_jobs", "Write jobs waiting for the writer.",
          [this] {
            const std::lock_guard lock(mutex_);
            return static_cast<double>(queue_.size());
          },
          settings.MetricLabels()),
      upkeep_(settings, clock, heartbeat_, metrics),
      group_commit_(settings, counters, upkeep_, clock, heartbeat_, metrics),
      last_job_ms_(clock.MonotonicMs()) {
  queue_.reserve(settings_.queue_max);
  thread_ = std::jthread([this] { Loop(); });
  thread_id_ = thread_.get_id();
}

Writer::~Writer() { Stop(); }

// On the callers' threads.

void Writer::Run(const Job& job) {
  CHECK(std::this_thread::get_id() != thread_id_, "a job writes through its own Tx");
  Request request(job);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Fault(Fault::Kind::kUnavailable, "the database is stopping");
    upkeep_.RequireOpen();
    if (queue_.size() >= settings_.queue_max) {
      metrics_.refused.Add();
      throw Fault(Fault::Kind::kUnavailable, "the writer's queue is full");
    }
    queue_.push_back(&request);
  }
  work_.notify_one();
  request.done.Wait();
  if (request.error) std::rethrow_exception(request.error);
}

void Writer::SetAfterCommit(std::function<void()> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
}

Health Writer::health() const {
  const std::lock_guard lock(mutex_);
  return stopping_ ? Health{false, "stopping"} : upkeep_.health();
}

void Writer::Reindex(const std::string& index) {
  {
    const std::lock_guard lock(mutex_);
    wrong_indexes_.insert(index);
  }
  work_.notify_one();
}

void Writer::Stop() {
  const std::lock_guard stop_lock(stop_mutex_);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// On the writer's thread.

void Writer::Loop() {
  ::pthread_setname_np(::pthread_self(), ("write " + file_).c_str());  // for top -H, at most 15
  Group group;
  group.reserve(settings_.group_jobs_max);
  heartbeat_.Beat();
  while (Take(group)) {
    heartbeat_.Beat();
    ReindexWrong();
    if (group.empty()) {
      WhenIdle();
      continue;
    }
    group_commit_.Serve(group);
    Answer(group);
    upkeep_.AfterGroup();
    last_job_ms_ = clock_.MonotonicMs();
  }
  upkeep_.Last();
}

// The next group, empty after a second without work; false when all is answered and none will come.
bool Writer::Take(Group& group) {
  group.clear();
  std::unique_lock lock(mutex_);
  work_.wait_for(lock, kIdleTick,
                 [&] { return !queue_.empty() || stopping_ || !wrong_indexes_.empty(); });
  if (queue_.empty()) return !stopping_;
  const auto count = std::min(queue_.size(), settings_.group_jobs_max);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  group.assign(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return true;
}

void Writer::WhenIdle() { upkeep_.WhenIdle(clock_.MonotonicMs() - last_job_ms_); }

void Writer::ReindexWrong() {
  std::set<std::string> indexes;
  {
    const std::lock_guard lock(mutex_);
    indexes.swap(wrong_indexes_);
  }
  if (indexes.empty()) return;
  for (const std::string& index : indexes) upkeep_.Reindex(index);
  upkeep_.AfterGroup();
}

// Publishes what the group's jobs wrote, then wakes their callers, then those who follow the log.
void Writer::Answer(const Group& group) noexcept {
  bool committed = false;
  for (Request* request : group) {
    committed |= !request->error;
    for (const auto& publish : request->on_commit) publish();
  }
  metrics_.jobs.Add(group.size());
  for (Request* request : group) request->done.Signal();  // its caller's stack may be gone now
  if (!committed) return;
  const std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

}  // namespace comanda::db
