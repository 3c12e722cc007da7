#include "db/writer.h"

#include "base/check.h"
#include "base/log.h"
#include "db/disk_space.h"
#include "db/migrate.h"

#include <sqlite3.h>

#include <pthread.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace comanda::db {
namespace {

constexpr std::chrono::seconds kIdleTick{1};
constexpr int64_t kHeartbeatMaxMs = 60'000;
constexpr int64_t kClockStepMaxMs = 5 * 60'000;
constexpr int64_t kProbeEveryMs = 2000;
constexpr uint64_t kFreeBytesMin = 1 << 20;
constexpr int kReopenMax = 3;
constexpr int kCarefulGroups = 100;
constexpr std::chrono::milliseconds kReopenPause{500};  // before the second try, then twice
constexpr int kProgressSteps = 100'000;                 // some milliseconds
constexpr int kExitStatus = 70;                         // EX_SOFTWARE: systemd starts one
constexpr int kCheckpointPages = 1000;
// Readers that never pause keep the log from starting over. Above this the writer waits for them.
constexpr int kRestartPages = 4096;
constexpr int kCheckpointWaitMs = 250;
constexpr int kBusyMs = 5000;
constexpr int64_t kTruncateAfterIdleMs = 5000;

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Labels(const std::string& file) {
  return "database=\"" + file.substr(0, file.find('.')) + "\"";
}

std::exception_ptr MakeFault(Fault::Kind kind, const char* cause) {
  return std::make_exception_ptr(Fault(kind, cause));
}

// Commits take less than the clock's millisecond.
int64_t MonotonicUs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

bool DiskFailed(Trouble trouble) { return trouble == Trouble::kIo || trouble == Trouble::kDamaged; }

}  // namespace

Writer::Metrics::Metrics(metrics::Registry& registry, const std::string& labels)
    : commits(registry, "comanda_db_commits_total", "Transactions committed.", labels),
      jobs(registry, "comanda_db_jobs_total",
           "Write jobs answered; by commits it is the mean size of a group.", labels),
      refused(registry, "comanda_db_jobs_refused_total",
              "Write jobs refused because the queue was full.", labels),
      checkpoints(registry, "comanda_db_checkpoints_total", "Checkpoints of the log.", labels),
      disk_failures(registry, "comanda_db_disk_failures_total",
                    "Writes or syncs that the disk failed, a full disk included.", labels),
      commit_time(registry, "comanda_db_commit_seconds",
                  "From the start of a COMMIT to its being on disk.", labels) {}

Writer::Writer(const Settings& settings, ChangeCounters& counters, const Clock& clock,
               Heartbeats& heartbeats, metrics::Registry& metrics)
    : settings_(settings),
      counters_(counters),
      clock_(clock),
      file_(LastPart(settings.path)),
      heartbeat_(heartbeats, "writer of " + file_, kHeartbeatMaxMs),
      metrics_(metrics, Labels(file_)),
      wal_gauge_(
          metrics, "comanda_db_wal_pages", "Pages in the write-ahead log.",
          [this] { return static_cast<double>(wal_pages_.load(std::memory_order_relaxed)); },
          Labels(file_)),
      queue_gauge_(
          metrics, "comanda_db_queue_jobs", "Write jobs waiting for the writer.",
          [this] {
            const std::lock_guard lock(mutex_);
            return static_cast<double>(queue_.size());
          },
          Labels(file_)) {
  RequireLibrary();
  MakeDatabaseFile(settings_.path);
  connection_ = Open();
  if (Migrate(*connection_, settings_, clock_, heartbeat_)) {
    connection_.reset();
    connection_ = Open();
  }
  queue_.reserve(settings_.queue_max);
  last_job_ms_ = clock_.MonotonicMs();
  thread_ = std::jthread([this] { Loop(); });
  thread_id_ = thread_.get_id();
}

Writer::~Writer() { Stop(); }

std::unique_ptr<Connection> Writer::Open() {
  auto fresh = std::make_unique<Connection>(settings_.path, Connection::Role::kWriter,
                                            settings_.vfs, clock_);
  fresh->Integer("SELECT count(*) FROM sqlite_schema");
  sqlite3_wal_hook(fresh->handle(), &Writer::OnWalGrowth, this);
  sqlite3_progress_handler(fresh->handle(), kProgressSteps, &Writer::OnProgress, this);
  return fresh;
}

// -- callers' threads
// ------------------------------------------------------------------------------

void Writer::Run(const Job& job) {
  CHECK(std::this_thread::get_id() != thread_id_, "a job writes through its own Tx");
  Request request(job);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Fault(Fault::Kind::kUnavailable, "the database is stopping");
    if (damaged_) throw Fault(Fault::Kind::kDamaged, health_.reason);
    if (reopening_) throw Fault(Fault::Kind::kUnavailable, health_.reason);
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

Database::Health Writer::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

void Writer::RefuseJobs(const std::string& why) {
  SetHealth({false, why}, false);
  const std::lock_guard lock(mutex_);
  damaged_ = true;
}

void Writer::Stop() {
  const std::lock_guard stop_lock(stop_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) health_ = {false, "stopping"};
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// -- the writer's thread
// ---------------------------------------------------------------------------

void Writer::Loop() {
  ::pthread_setname_np(::pthread_self(), ("write " + file_).c_str());  // for top -H, at most 15
  Group group;
  group.reserve(settings_.group_jobs_max);
  heartbeat_.Beat();
  while (Take(group)) {
    heartbeat_.Beat();
    if (group.empty()) {
      WhenIdle();
      continue;
    }
    Serve(group);
    CheckpointWhenGrown();
    last_job_ms_ = clock_.MonotonicMs();
  }
  Checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
}

// The next group, empty after a second without work; false when all is answered and none will come.
bool Writer::Take(Group& group) {
  group.clear();
  std::unique_lock lock(mutex_);
  work_.wait_for(lock, kIdleTick, [&] { return !queue_.empty() || stopping_; });
  if (queue_.empty()) return !stopping_;
  const auto count = std::min(queue_.size(), settings_.group_jobs_max);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
  group.assign(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return true;
}

void Writer::Serve(Group& group) {
  if (!writable_ && !Probe()) {
    for (Request* request : group) {
      request->error = MakeFault(Fault::Kind::kDiskFull, "the disk is full");
    }
  } else if (!TryGroup(group)) {
    for (Request* request : group) {
      TryAlone(*request);
      heartbeat_.Beat();
    }
  }
  Answer(group);
}

// First without savepoints, each of which copies every page that its job changes (a quarter of what
// an order costs). A job that refuses takes the group back then, and all run again, with
// savepoints; so do those of the next groups, for refusals seldom come alone.
bool Writer::TryGroup(const Group& group) {
  const bool alone = group.size() == 1;
  const bool savepoints = !alone && careful_groups_ > 0;
  if (savepoints) --careful_groups_;
  Start();
  try {
    Begin();
    const Stamp stamp = NextStamp();
    for (Request* request : group) {
      RunJob(*request, stamp, savepoints);
      if (!request->error || savepoints || alone) continue;
      connection_->Execute("ROLLBACK");
      connection_->RequireTransaction(false);
      careful_groups_ = kCarefulGroups;
      return TryGroup(group);
    }
    End(!alone || !group.front()->error);
    return true;
  } catch (const std::exception& failure) {
    log::Warning("group of jobs rolled back",
                 {{"file", file_}, {"jobs", group.size()}, {"cause", failure.what()}});
  }
  // What is too much for the disk together may fit in part: that is found out one by one.
  const Trouble trouble = connection_->trouble();
  Abandon(trouble == Trouble::kFull ? Trouble::kPassing : trouble);
  if (trouble == Trouble::kFull) MadeSpace();
  return false;
}

void Writer::TryAlone(Request& request) {
  Start();
  try {
    Begin();
    RunJob(request, NextStamp(), false);
    End(!request.error);
  } catch (const std::exception&) {
    request.error = std::current_exception();
    request.on_commit.clear();
    Abandon(connection_->trouble());
  }
}

// Leaves the job's outcome in the request. Throws where the transaction is no longer what it was.
void Writer::RunJob(Request& request, const Stamp& stamp, bool savepoint) {
  request.error = nullptr;
  request.on_commit.clear();
  if (savepoint) connection_->Execute("SAVEPOINT job");
  try {
    Tx tx(*connection_, counters_);
    request.job(tx, stamp);
    request.on_commit = std::move(tx.on_commit_);
  } catch (...) {
    request.error = std::current_exception();
  }
  CHECK(!connection_->AnyRunning(), "no Rows outlives its job");
  const Trouble trouble = connection_->trouble();
  if (!connection_->InTransaction() || DiskFailed(trouble)) throw connection_->failure();
  if (trouble == Trouble::kFull) {
    if (MadeSpace()) throw connection_->failure();
    job_met_full_disk_ = true;
  }
  connection_->ClearTrouble();  // the job's own from here on
  if (!savepoint) return;
  if (request.error) connection_->Execute("ROLLBACK TO job");
  connection_->Execute("RELEASE job");
}

void Writer::Start() {
  connection_->ClearTrouble();
  job_met_full_disk_ = false;
}

void Writer::Begin() {
  connection_->Execute("BEGIN IMMEDIATE");
  connection_->RequireTransaction(true);
}

void Writer::End(bool commit) {
  if (commit) {
    const int64_t start_us = MonotonicUs();
    connection_->Execute("COMMIT");
    metrics_.commit_time.ObserveUs(MonotonicUs() - start_us);
    metrics_.commits.Add();
    reopened_in_a_row_ = 0;
    if (!writable_) BecomeWritable();
  } else {
    connection_->Execute("ROLLBACK");
  }
  connection_->RequireTransaction(false);
  if (job_met_full_disk_) BecomeFull();
}

// After a transaction that did not commit: back to a state in which the next can begin.
void Writer::Abandon(Trouble trouble) {
  bool rolled_back = connection_->Rollback();
  if (trouble == Trouble::kFull) {
    BecomeFull();
    // Where the sync was the first to find no space, the whole transaction stands in the log.
    try {
      WriteOver();
    } catch (const std::exception&) {
      trouble = connection_->trouble();
      rolled_back = connection_->Rollback();
    }
  }
  if (DiskFailed(trouble) || !rolled_back) {
    Reopen("a transaction failed", trouble == Trouble::kDamaged);
  }
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

// -- a disk that is full or fails
// ------------------------------------------------------------------

// True where the jobs may be tried again: there was ballast to give up.
bool Writer::MadeSpace() {
  return settings_.space && !settings_.is_guest && settings_.space->GiveUpBallast();
}

// True once there is space again: the file system says so and a page can be written and synced.
bool Writer::Probe() {
  last_probe_ms_ = clock_.MonotonicMs();
  struct statvfs space = {};
  if (::statvfs(settings_.path.c_str(), &space) == 0 &&
      space.f_bavail * space.f_frsize < kFreeBytesMin) {
    return false;
  }
  Checkpoint(SQLITE_CHECKPOINT_PASSIVE);  // a log that starts over needs no space
  Start();
  try {
    Begin();
    TouchFile();
    End(true);
  } catch (const std::exception&) {
    Abandon(connection_->trouble());
  }
  return writable_;
}

void Writer::BecomeFull() {
  metrics_.disk_failures.Add();
  last_probe_ms_ = clock_.MonotonicMs();
  if (writable_)
    log::Error("the disk is full: no more writes until there is space", {{"file", file_}});
  writable_ = false;
  SetHealth({false, "the disk is full"}, false);
}

void Writer::BecomeWritable() {
  writable_ = true;
  log::Notice("the database is writable again", {{"file", file_}});
  SetHealth({true, ""}, false);
}

void Writer::SetHealth(Database::Health health, bool reopening) {
  const std::lock_guard lock(mutex_);
  reopening_ = reopening;
  if (!stopping_ && !damaged_) health_ = std::move(health);
}

// What a failed sync left in the system's cache is not to be trusted through the same descriptors.
void Writer::Reopen(const std::string& why, bool damaged) {
  metrics_.disk_failures.Add();
  SetHealth({false, "the database is being reopened: " + why}, true);
  while (true) {
    if (++reopened_in_a_row_ > kReopenMax) EndProcess(why);
    log::Error("reopening the database",
               {{"file", file_}, {"why", why}, {"attempt", reopened_in_a_row_}});
    std::this_thread::sleep_for(kReopenPause * (reopened_in_a_row_ - 1));
    heartbeat_.Beat();
    try {
      // The new one is open before the old one closes: with none, SQLite would rebuild the log's
      // index and might find the failed transaction whole in the log, while its jobs run again.
      std::unique_ptr<Connection> fresh = Open();
      if (damaged) RequireSound();
      connection_ = std::move(fresh);
      WriteOver();
      break;
    } catch (const std::exception& failure) {
      if (connection_->trouble() == Trouble::kFull && connection_->Rollback()) return BecomeFull();
      log::Error("cannot reopen the database", {{"file", file_}, {"cause", failure.what()}});
    }
  }
  BecomeWritable();
}

// What a failed transaction left in the log is written over, so that no recovery ever finds it: its
// jobs are told that nothing was done. It is enough that this is written. Where not even that goes,
// because the disk that failed is full now too, the jobs are told 503 and the next commit writes it
// over; a kill before that makes them done after all. Their idempotency keys are in the same
// transaction: who sends them again is given the first answer then, and nothing is done twice.
void Writer::WriteOver() {
  Start();
  Begin();
  TouchFile();
  connection_->Execute("COMMIT");
  connection_->RequireTransaction(false);
}

// The smallest change that there is: a page with what it had.
void Writer::TouchFile() {
  const int64_t version = connection_->Integer("PRAGMA user_version");
  connection_->RunScript("PRAGMA user_version = " + std::to_string(version));
}

// A page that was read wrong may be right on the disk; where it is not, the next process is told to
// take no more writes.
void Writer::RequireSound() {
  const std::string damage = QuickCheck(settings_, clock_, [this] {
    heartbeat_.Beat();
    return true;
  });
  if (!damage.empty()) EndProcess("the database is damaged: " + damage);
}

void Writer::EndProcess(const std::string& why) {
  log::Error("the disk keeps failing: ending the process", {{"file", file_}, {"why", why}});
  ::_exit(kExitStatus);
}

// -- the log's upkeep
// ------------------------------------------------------------------------------

void Writer::WhenIdle() {
  const int64_t now_ms = clock_.MonotonicMs();
  if (!writable_ && now_ms - last_probe_ms_ >= kProbeEveryMs) Probe();
  if (now_ms - last_job_ms_ >= kTruncateAfterIdleMs && largest_pages_ >= kCheckpointPages) {
    CheckpointOrReopen(SQLITE_CHECKPOINT_TRUNCATE);
  }
}

void Writer::CheckpointWhenGrown() {
  const int pages = wal_pages_;
  largest_pages_ = std::max(largest_pages_, pages);
  if (pages < checkpoint_tried_at_) checkpoint_tried_at_ = 0;  // the log has started over
  if (pages - checkpoint_tried_at_ < kCheckpointPages) return;
  checkpoint_tried_at_ = pages;
  CheckpointOrReopen(pages < kRestartPages ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART);
}

void Writer::CheckpointOrReopen(int mode) {
  const Trouble trouble = Checkpoint(mode);
  if (!DiskFailed(trouble)) return;
  if (++checkpoints_failed_in_a_row_ > kReopenMax) EndProcess("checkpoints fail");
  Reopen("a checkpoint failed", trouble == Trouble::kDamaged);
}

// Readers in the way are no trouble: what they still need is left for the next time.
Trouble Writer::Checkpoint(int mode) {
  const Trouble trouble = TryCheckpoint(mode);
  return trouble == Trouble::kFull && MadeSpace() ? TryCheckpoint(mode) : trouble;
}

Trouble Writer::TryCheckpoint(int mode) {
  connection_->ClearTrouble();
  sqlite3* handle = connection_->handle();
  sqlite3_busy_timeout(handle, kCheckpointWaitMs);
  const int code = sqlite3_wal_checkpoint_v2(handle, "main", mode, nullptr, nullptr);
  sqlite3_busy_timeout(handle, kBusyMs);
  metrics_.checkpoints.Add();
  try {
    if (code != SQLITE_OK && code != SQLITE_BUSY) connection_->Fail(code, "checkpoint");
  } catch (const Fault& fault) {
    log::Warning("checkpoint failed", {{"file", file_}, {"cause", fault.cause}});
    return connection_->trouble();
  }
  checkpoints_failed_in_a_row_ = 0;
  if (code == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE) wal_pages_ = largest_pages_ = 0;
  return Trouble::kNone;
}

// A large import is one job: what is under way is told from what hangs.
int Writer::OnProgress(void* self) noexcept {
  static_cast<Writer*>(self)->heartbeat_.Beat();
  return 0;
}

int Writer::OnWalGrowth(void* self, sqlite3*, const char*, int pages) noexcept {
  static_cast<Writer*>(self)->wal_pages_ = pages;
  return SQLITE_OK;
}

}  // namespace comanda::db
