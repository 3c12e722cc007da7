#include "db/writer.h"

#include "base/check.h"
#include "base/log.h"
#include "base/problem.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

namespace comanda::db {
namespace {

constexpr std::chrono::seconds kIdleTick{1};
constexpr int64_t kHeartbeatMaxMs = 60'000;
constexpr int64_t kClockStepMaxMs = 5 * 60'000;
constexpr int kCarefulGroups = 100;

// Commits take less than the clock's millisecond.
int64_t MonotonicUs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

Writer::Metrics::Metrics(metrics::Registry& registry, const std::string& labels)
    : commits(registry, "comanda_db_commits_total", "Transactions committed.", labels),
      jobs(registry, "comanda_db_jobs_total",
           "Write jobs answered; by commits it is the mean size of a group.", labels),
      refused(registry, "comanda_db_jobs_refused_total",
              "Write jobs refused because the queue was full.", labels),
      commit_time(registry, "comanda_db_commit_seconds",
                  "From the start of a COMMIT to its being on disk.", labels) {}

Writer::Writer(const Settings& settings, ChangeCounters& counters, DamagedRows& damaged_rows,
               const Clock& clock, Heartbeats& heartbeats, metrics::Registry& metrics)
    : settings_(settings),
      counters_(counters),
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
      checkpointer_(settings, metrics),
      disk_(settings, clock, heartbeat_, checkpointer_, damaged_rows, metrics),
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
    disk_.RequireOpen();
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
  return stopping_ ? Health{false, "stopping"} : disk_.health();
}

void Writer::RebuildSoon(const std::string& index) {
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
    RebuildIndexes();
    if (group.empty()) {
      WhenIdle();
      continue;
    }
    Serve(group);
    if (const auto due = checkpointer_.WhenGrown()) disk_.Checkpoint(*due);
    last_job_ms_ = clock_.MonotonicMs();
  }
  disk_.CheckpointLast();
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

void Writer::WhenIdle() {
  disk_.WhenIdle();
  const int64_t idle_ms = clock_.MonotonicMs() - last_job_ms_;
  if (const auto due = checkpointer_.WhenIdle(idle_ms)) disk_.Checkpoint(*due);
}

void Writer::RebuildIndexes() {
  std::set<std::string> indexes;
  {
    const std::lock_guard lock(mutex_);
    indexes.swap(wrong_indexes_);
  }
  if (indexes.empty()) return;
  for (const std::string& index : indexes) disk_.Rebuild(index);
  if (const auto due = checkpointer_.WhenGrown()) disk_.Checkpoint(*due);
}

// Answers each job of the group exactly once.
void Writer::Serve(Group& group) {
  if (Refused(*group.front())) {
    for (Request* request : group) request->error = group.front()->error;
  } else if (!disk_.MayWrite()) {
    for (Request* request : group) {
      request->error = std::make_exception_ptr(Fault(Fault::Kind::kDiskFull, "the disk is full"));
    }
  } else if (!TryGroup(group)) {
    for (Request* request : group) {
      TryAlone(*request);
      heartbeat_.Beat();
    }
  }
  Answer(group);
}

// One transaction for all; true where it was committed, or rolled back because the only job
// refused. First without savepoints, each of which copies every page that its job changes (a
// quarter of what an order costs). A job that refuses rolls back the whole group then, and all run
// again, with savepoints; so do those of the next groups, for refusals seldom come alone.
bool Writer::TryGroup(const Group& group) {
  const bool alone = group.size() == 1;
  const bool savepoints = !alone && careful_groups_ > 0;
  if (savepoints) --careful_groups_;
  try {
    Begin();
    const Stamp stamp = NextStamp();
    for (Request* request : group) {
      RunJob(*request, stamp, savepoints);
      if (!request->error || savepoints || alone) continue;
      disk_.connection().Execute("ROLLBACK");
      disk_.connection().RequireTransaction(false);
      careful_groups_ = kCarefulGroups;
      return TryGroup(group);
    }
    if (alone && group.front()->error) {
      Rollback();
    } else {
      Commit();
    }
    return true;
  } catch (const std::exception& failure) {
    log::Warning("group of jobs rolled back",
                 {{"file", file_}, {"jobs", group.size()}, {"cause", failure.what()}});
  }
  TellSuspicion();
  // What is too much for the disk together may fit in part: running one by one finds out.
  const Trouble trouble = disk_.connection().trouble();
  disk_.Recover(trouble == Trouble::kFull ? Trouble::kPassing : trouble);
  if (trouble == Trouble::kFull) disk_.MakeSpace();
  return false;
}

// The same for one job of a group whose transaction was lost. A job that meets a page that makes no
// sense runs once more after its tables were mended.
void Writer::TryAlone(Request& request) {
  if (Refused(request) || TryOnce(request)) return;
  const std::string sql = disk_.connection().suspicious_sql();
  const Trouble trouble = disk_.connection().trouble();
  disk_.Recover(trouble);
  if (trouble == Trouble::kDamaged && disk_.Mend(sql) && !TryOnce(request)) {
    disk_.Recover(disk_.connection().trouble());
  }
  if (request.error)
    Refused(request);  // where the file turned out to be damaged, that is the answer
}

// False where the transaction failed; the caller has the disk recover.
bool Writer::TryOnce(Request& request) {
  try {
    Begin();
    RunJob(request, NextStamp(), false);
    if (request.error) {
      Rollback();
    } else {
      Commit();
    }
    return true;
  } catch (const std::exception&) {
    request.error = std::current_exception();
    request.on_commit.clear();
    TellSuspicion();
    return false;
  }
}

// True where no jobs are taken any more; the request then says why.
bool Writer::Refused(Request& request) const {
  try {
    disk_.RequireOpen();
    return false;
  } catch (const Fault&) {
    request.error = std::current_exception();
    return true;
  }
}

void Writer::TellSuspicion() const {
  const std::string& sql = disk_.connection().suspicious_sql();
  if (settings_.suspect && !sql.empty()) settings_.suspect(sql);
}

// Leaves the job's outcome in the request. Throws where the transaction is no longer what it was.
void Writer::RunJob(Request& request, const Stamp& stamp, bool savepoint) {
  Connection& connection = disk_.connection();
  request.error = nullptr;
  request.on_commit.clear();
  if (savepoint) connection.Execute("SAVEPOINT job");
  try {
    Tx tx(connection, counters_);
    request.job(tx, stamp);
    request.on_commit = tx.TakePublications();
  } catch (...) {
    request.error = std::current_exception();
  }
  CHECK(!connection.AnyRunning(), "no Rows outlives its job");
  const Trouble trouble = connection.trouble();
  if (!connection.InTransaction() || DiskFailed(trouble)) throw connection.failure();
  if (trouble == Trouble::kFull) {
    if (disk_.MakeSpace()) throw connection.failure();
    job_met_full_disk_ = true;
  }
  TellSuspicion();
  connection.ClearTrouble();  // the job's own from here on
  if (!savepoint) return;
  if (request.error) connection.Execute("ROLLBACK TO job");
  connection.Execute("RELEASE job");
}

void Writer::Begin() {
  Connection& connection = disk_.connection();
  connection.ClearTrouble();
  job_met_full_disk_ = false;
  connection.Execute("BEGIN IMMEDIATE");
  connection.RequireTransaction(true);
}

void Writer::Commit() {
  const int64_t start_us = MonotonicUs();
  disk_.connection().Execute("COMMIT");
  metrics_.commit_time.ObserveUs(MonotonicUs() - start_us);
  metrics_.commits.Add();
  disk_.NoteCommit();
  disk_.connection().RequireTransaction(false);
  if (job_met_full_disk_) disk_.BecomeFull();
}

void Writer::Rollback() {
  disk_.connection().Execute("ROLLBACK");
  disk_.connection().RequireTransaction(false);
  if (job_met_full_disk_) disk_.BecomeFull();
}

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

Stamp Writer::NextStamp() {
  UtcMs now = clock_.Now();
  if (const UtcMs last = last_stamp_; now < last) {
    if (last - now <= kClockStepMaxMs) {
      now = last;
    } else {
      log::Warning("the clock was put back",
                   {{"from", FormatInstant(last)}, {"to", FormatInstant(now)}});
    }
  }
  last_stamp_ = now;
  return Stamp{now};
}

}  // namespace comanda::db
