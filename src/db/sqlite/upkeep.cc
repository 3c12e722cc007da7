#include "engine/upkeep.h"

#include "base/file.h"
#include "base/log.h"
#include "base/problem.h"
#include "db/file_identity.h"
#include "db/sqlite/migrate.h"
#include "db/sqlite/sorting_files.h"

#include <sqlite3.h>

#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

namespace comanda::db {
namespace {

constexpr uint64_t kFreeBytesMin = 1 << 20;
constexpr std::chrono::milliseconds kReopenPause{500};  // before the second try, then twice
constexpr int kProgressSteps = 100'000;                 // some milliseconds
constexpr int kExitStatus = 70;                         // EX_SOFTWARE

}  // namespace

Upkeep::Upkeep(const Settings& settings, const Clock& clock, Heartbeat& heartbeat,
               metrics::Registry& metrics)
    : settings_(settings),
      clock_(clock),
      heartbeat_(heartbeat),
      file_(settings.FileName()),
      checkpointer_(settings, metrics),
      failures_(metrics, "comanda_db_disk_failures_total",
                "Writes or syncs that the disk failed, a full disk included.",
                settings.MetricLabels()),
      rebuilt_(metrics, "comanda_db_indexes_rebuilt_total",
               "Indexes that disagreed with their table and were rebuilt from it.",
               settings.MetricLabels()),
      read_only_gauge_(
          metrics, "comanda_db_read_only",
          "1 where the file is damaged or a part of it cannot be read: it takes no more writes.",
          [this] {
            const std::lock_guard lock(mutex_);
            return read_only_ ? 1.0 : 0.0;
          },
          settings.MetricLabels()) {
  if (settings_.begins_alone) {
    RequireUsable();
    BecomeReadOnly();
    return;
  }
  MakeDatabaseFile(settings_.path);
  connection_ = Open();
  if (Migrate(*connection_, settings_, clock_, heartbeat_)) {
    connection_.reset();
    connection_ = Open();
  }
}

std::unique_ptr<Connection> Upkeep::Open() {
  auto fresh = std::make_unique<Connection>(settings_.path, Connection::Role::kWriter,
                                            settings_.vfs, clock_);
  fresh->Integer("SELECT count(*) FROM sqlite_schema");
  checkpointer_.Follow(*fresh);
  sqlite3_progress_handler(fresh->handle(), kProgressSteps, &Upkeep::OnProgress, &heartbeat_);
  return fresh;
}

// A large import is one job: its progress distinguishes it from a thread that hangs.
int Upkeep::OnProgress(void* heartbeat) noexcept {
  static_cast<Heartbeat*>(heartbeat)->Beat();
  return 0;
}

// What is opened on a disk that is read-only must be of this program's schema.
void Upkeep::RequireUsable() {
  constexpr std::string_view kReadOnly = ", and the disk is read-only";
  if (!IsThere(settings_.path)) {
    throw Fault(Fault::Kind::kDiskReadOnly,
                "there is no " + settings_.path + std::string(kReadOnly));
  }
  Connection reader(settings_.path, Connection::Role::kService, settings_.vfs, clock_,
                    Sharing::kAlone);
  const int64_t found = reader.Integer("PRAGMA user_version");
  const int64_t known = settings_.migrations.back().number;
  if (found > known) {
    throw Fault(Fault::Kind::kInternal, OfNewerProgram(settings_.path, found, known));
  }
  if (found < known) {
    throw Fault(
        Fault::Kind::kDiskReadOnly,
        settings_.path + " is of an older program and must be upgraded" + std::string(kReadOnly));
  }
}

void Upkeep::Begin() {
  connection_->ClearTrouble();
  connection_->Execute("BEGIN IMMEDIATE");
  connection_->RequireTransaction(true);
}

void Upkeep::Commit() {
  connection_->Execute("COMMIT");
  NoteCommit();
  connection_->RequireTransaction(false);
}

void Upkeep::Rollback() {
  connection_->Execute("ROLLBACK");
  connection_->RequireTransaction(false);
}

// A full or read-only disk.

bool Upkeep::MayWrite() {
  if (!writable_) Probe();
  return writable_;
}

Fault Upkeep::WhyNot() const { return Fault(why_not_, health().reason); }

void Upkeep::WhenIdle(int64_t idle_ms) {
  if (writable_ && settings_.is_read_only()) BecomeReadOnly();
  if (!writable_ && clock_.MonotonicMs() - last_probe_ms_ >= kProbeEveryMs) Probe();
  if (const auto due = checkpointer_.WhenIdle(idle_ms)) Checkpoint(*due);
}

void Upkeep::AfterGroup() {
  if (const auto due = checkpointer_.WhenGrown()) Checkpoint(*due);
}

bool Upkeep::MakeSpace() {
  return settings_.space && !settings_.is_guest && settings_.space->GiveUpBallast();
}

// Finds out whether the disk takes writes again: the file system says so, and a page can be written
// and synced.
void Upkeep::Probe() {
  last_probe_ms_ = clock_.MonotonicMs();
  if (settings_.is_onlooker || settings_.is_read_only()) return;
  if (why_not_ == Fault::Kind::kDiskReadOnly) return OpenAgain();
  struct statvfs space = {};
  if (::statvfs(settings_.path.c_str(), &space) == 0 &&
      space.f_bavail * space.f_frsize < kFreeBytesMin) {
    return;
  }
  TryCheckpoint(Checkpointer::Mode::kPassive);  // a log that starts over needs no space
  try {
    WriteOver();
    NoteCommit();
  } catch (const std::exception&) {
    Recover(connection_->trouble());
  }
}

// Through a new connection: after a failed write or sync the open file cannot be trusted.
void Upkeep::OpenAgain() {
  const auto open = [this] {
    std::unique_ptr<Connection> fresh = Open();
    std::swap(connection_, fresh);
    try {
      WriteOver();
    } catch (...) {
      connection_->Rollback();
      if (!fresh) connection_.reset();
      throw;
    }
  };
  try {
    if (connection_) {
      open();
    } else if (!settings_.end_alone(open)) {
      return;
    }
    NoteCommit();
  } catch (const std::exception& failure) {
    if (!lines_of_tries_.Allows(clock_.MonotonicMs())) return;
    log::Notice("the disk does not take writes yet", {{"file", file_}, {"cause", failure.what()}});
  }
}

void Upkeep::BecomeFull() {
  failures_.Add();
  if (writable_)
    log::Error("the disk is full: no more writes until there is space", {{"file", file_}});
  Refuse(Fault::Kind::kDiskFull, "the disk is full");
}

void Upkeep::BecomeReadOnly() {
  if (writable_ || why_not_ != Fault::Kind::kDiskReadOnly) {
    log::Error(
        "the disk is read-only: its file system was mounted so, or stopped after an error of the "
        "disk; no more writes until that ends",
        {{"file", file_}, {"what_to_do", "`comanda doctor` says it"}});
  }
  Refuse(Fault::Kind::kDiskReadOnly, "the disk is read-only");
}

void Upkeep::Refuse(Fault::Kind why, const std::string& reason) {
  last_probe_ms_ = clock_.MonotonicMs();
  writable_ = false;
  why_not_ = why;
  SetHealth({false, reason}, false);
}

void Upkeep::NoteCommit() {
  reopened_in_a_row_ = 0;
  if (!writable_) BecomeWritable();
}

void Upkeep::BecomeWritable() {
  writable_ = true;
  log::Notice("the database is writable again", {{"file", file_}});
  SetHealth({true, ""}, false);
}

// A disk that fails.

void Upkeep::Recover(Trouble trouble) {
  bool rolled_back = connection_->Rollback();
  // A disk that fails may be read-only by now, whatever the call failed with.
  if (trouble == Trouble::kReadOnly || (DiskFailed(trouble) && settings_.is_read_only())) {
    failures_.Add();
    return BecomeReadOnly();
  }
  if (trouble == Trouble::kFull) {
    BecomeFull();
    // Where the sync was the first to find no space, the whole transaction is in the log.
    try {
      WriteOver();
    } catch (const std::exception&) {
      trouble = connection_->trouble();
      rolled_back = connection_->Rollback();
    }
  }
  if (DiskFailed(trouble) || !rolled_back) {
    Reopen("a transaction failed");
    // The disk has just taken a write: what it cannot read is this transaction's affair.
    if (PageUnreadable(trouble)) reopened_in_a_row_ = 0;
  }
}

void Upkeep::Reopen(const std::string& why) {
  failures_.Add();
  SetHealth({false, "the database is being reopened: " + why}, true);
  while (true) {
    if (settings_.is_read_only()) return BecomeReadOnly();
    if (++reopened_in_a_row_ > kReopenMax) EndProcess(why);
    log::Error("reopening the database",
               {{"file", file_}, {"why", why}, {"attempt", reopened_in_a_row_}});
    std::this_thread::sleep_for(kReopenPause * (reopened_in_a_row_ - 1));
    heartbeat_.Beat();
    try {
      // The new one is open before the old one closes: with none, SQLite would rebuild the log's
      // index and might find the failed transaction whole in the log, while its jobs run again.
      std::unique_ptr<Connection> fresh = Open();
      connection_ = std::move(fresh);
      WriteOver();
      break;
    } catch (const std::exception& failure) {
      if (connection_->trouble() == Trouble::kFull && connection_->Rollback()) return BecomeFull();
      if (connection_->trouble() == Trouble::kReadOnly) {
        connection_->Rollback();
        return BecomeReadOnly();
      }
      log::Error("cannot reopen the database", {{"file", file_}, {"cause", failure.what()}});
    }
  }
  BecomeWritable();
}

// Commits the smallest change that there is, a page with what it had, so that no recovery ever
// finds what a failed transaction left in the log. It is enough that this is written. Where not
// even that goes, because the disk that failed is full now too, the jobs are told 503 and the next
// commit writes it over; a kill before that makes them done after all. Their idempotency keys are
// in the same transaction: who sends them again is given the first answer then, and nothing is done
// twice.
void Upkeep::WriteOver() {
  Begin();
  const int64_t version = connection_->Integer("PRAGMA user_version");
  connection_->RunScript("PRAGMA user_version = " + std::to_string(version));
  connection_->Execute("COMMIT");
  connection_->RequireTransaction(false);
}

// An index that disagrees with its table.

void Upkeep::Reindex(const std::string& index) {
  if (!writable_) return;
  try {
    RequireOpen();
    const std::unique_ptr<Connection> connection = Open();
    const SortingFiles files(*connection, DirectoryOf(settings_.path));
    connection->RunScript("REINDEX " + Quoted(index));
  } catch (const Fault& fault) {
    log::Error("an index disagrees with its table and cannot be rebuilt",
               {{"file", file_}, {"index", index}, {"cause", fault.cause}});
    return;
  }
  rebuilt_.Add();
  log::Error("an index disagreed with its table: it was rebuilt, look after the disk",
             {{"file", file_}, {"index", index}});
}

void Upkeep::EndProcess(const std::string& why) {
  log::Error("the disk keeps failing: ending the process", {{"file", file_}, {"why", why}});
  ::_exit(kExitStatus);
}

void Upkeep::Checkpoint(Checkpointer::Mode mode) {
  if (!writable_ && why_not_ == Fault::Kind::kDiskReadOnly) return;
  const Trouble trouble = TryCheckpoint(mode);
  if (trouble == Trouble::kReadOnly) return BecomeReadOnly();
  if (!DiskFailed(trouble)) return;
  if (++checkpoints_failed_in_a_row_ > kReopenMax) EndProcess("checkpoints fail");
  Reopen("a checkpoint failed");
}

void Upkeep::Last() {
  if (!IsReadOnly()) TryCheckpoint(Checkpointer::Mode::kTruncate);
}

Trouble Upkeep::TryCheckpoint(Checkpointer::Mode mode) {
  Trouble trouble = checkpointer_.Run(*connection_, mode);
  if (trouble == Trouble::kFull && MakeSpace()) trouble = checkpointer_.Run(*connection_, mode);
  if (trouble == Trouble::kNone) checkpoints_failed_in_a_row_ = 0;
  return trouble;
}

// What others see.

Health Upkeep::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

bool Upkeep::IsReadOnly() const {
  const std::lock_guard lock(mutex_);
  return read_only_ || disk_read_only_;
}

void Upkeep::RequireOpen() const {
  const std::lock_guard lock(mutex_);
  if (read_only_) throw Fault(Fault::Kind::kReadOnly, health_.reason);
  if (reopening_) throw Fault(Fault::Kind::kUnavailable, health_.reason);
}

void Upkeep::RefuseWrites(const std::string& why, bool is_unread) {
  {
    const std::lock_guard lock(mutex_);
    if (read_only_) return;
    health_ = {.writable = false,
               .reason = is_unread ? "the disk cannot read a part of the database: back up to "
                                     "another disk and replace it"
                                   : "damaged: comanda verify --repair"};
    reopening_ = false;
    read_only_ = true;
  }
  log::Error(is_unread
                 ? "the disk cannot read a part of the database, which takes no more writes: "
                   "back up to another disk (`comanda backup TARGET`) and replace this one"
                 : "the database is damaged and takes no more writes: stop the server and run "
                   "`comanda verify --repair`; if it refuses, restore a backup",
             {{"file", file_}, {"found", why}});
}

void Upkeep::SetHealth(Health health, bool reopening) {
  const std::lock_guard lock(mutex_);
  reopening_ = reopening;
  disk_read_only_ = !writable_ && why_not_ == Fault::Kind::kDiskReadOnly;
  if (!read_only_) health_ = std::move(health);
}

std::string Upkeep::identity() const { return FileIdentity(settings_.path); }

}  // namespace comanda::db
