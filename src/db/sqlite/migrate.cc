#include "db/sqlite/migrate.h"

#include "base/check.h"
#include "base/file.h"
#include "base/log.h"
#include "db/sqlite/sorting_files.h"
#include "db/upgrade_copies.h"

#include <sqlite3.h>

#include <exception>
#include <limits>

namespace comanda::db {
namespace {

constexpr int64_t kMebibyte = 1024 * 1024;
constexpr int kProgressSteps = 100'000;  // some milliseconds
constexpr int64_t kNotifyEveryMs = 10'000;

[[noreturn]] void Refuse(const std::string& why) { throw Fault(Fault::Kind::kInternal, why); }

bool IsNew(Connection& writer) {
  return writer.Integer("SELECT count(*) FROM sqlite_schema") == 0 &&
         writer.Integer("PRAGMA user_version") == 0;
}

void ClaimFile(Connection& writer, const std::string& path) {
  const int64_t owner = writer.Integer("PRAGMA application_id");
  if (owner == kInUseId || owner == kBackupId) return;
  if (owner != 0 || !IsNew(writer)) Refuse(path + " is the database of another program");
  writer.RunScript("PRAGMA application_id = " + std::to_string(kInUseId));
}

int64_t BytesOf(Connection& writer) {
  return writer.Integer("PRAGMA page_count") * writer.Integer("PRAGMA page_size");
}

// The estimated space for an upgrade of a file of this size: new indexes and tables, once in the
// log and once in the file, and temporary files for sorting. Measured: 0.57 of the file of a
// million orders. An upgrade that needs more fails when the disk is full.
int64_t RoomForUpgrade(int64_t bytes) { return bytes / 4 * 3; }

// Reports the progress of an upgrade: to the log, to the heartbeat, and to Settings::upgrading.
class Progress {
 public:
  Progress(const Settings& settings, const Clock& clock, Heartbeat& heartbeat)
      : settings_(settings), clock_(clock), heartbeat_(heartbeat) {}
  ~Progress() { Follow(nullptr); }
  Progress(const Progress&) = delete;

  // From now on the statements of the connection report progress while they run.
  void Follow(Connection* connection) {
    if (followed_) sqlite3_progress_handler(followed_->handle(), 0, nullptr, nullptr);
    followed_ = connection;
    if (!connection) return;
    const auto on_progress = [](void* self) noexcept {
      return static_cast<Progress*>(self)->ReportOrInterrupt() ? 0 : 1;
    };
    sqlite3_progress_handler(connection->handle(), kProgressSteps, on_progress, this);
  }

  void Begin(std::string step) {
    step_ = std::move(step);
    NotifyStep();
  }
  // Reports progress. Throws what Settings::upgrading throws, which ends the upgrade.
  void Report() {
    heartbeat_.Beat();
    if (clock_.MonotonicMs() - notified_ms_ < kNotifyEveryMs) return;
    log::Notice("still upgrading the database",
                {{"file", settings_.path}, {"step", step_}, {"seconds", seconds()}});
    NotifyStep();
  }
  // Throws again the exception for which ReportOrInterrupt() interrupted a statement.
  void RethrowEnd() const {
    if (end_) std::rethrow_exception(end_);
  }
  int64_t seconds() const { return (clock_.MonotonicMs() - start_ms_) / 1000; }

 private:
  // Called by SQLite, through which no exception may pass. False interrupts the statement.
  bool ReportOrInterrupt() noexcept {
    try {
      Report();
    } catch (...) {
      end_ = std::current_exception();
    }
    return !end_;
  }
  void NotifyStep() {
    notified_ms_ = clock_.MonotonicMs();
    if (settings_.upgrading) settings_.upgrading(step_);
  }

  const Settings& settings_;
  const Clock& clock_;
  Heartbeat& heartbeat_;
  Connection* followed_ = nullptr;
  std::string step_;
  std::exception_ptr end_;
  const int64_t start_ms_ = clock_.MonotonicMs();
  int64_t notified_ms_ = 0;
};

void TakeCopy(Connection& writer, const Settings& settings, int version, Progress& progress) {
  const std::string& path = settings.path;
  DeleteUpgradeCopies(DirectoryOf(path), std::string_view(path).substr(path.rfind('/') + 1),
                      std::numeric_limits<UtcMs>::max());
  const int64_t bytes = BytesOf(writer);
  const int64_t wanted = bytes + RoomForUpgrade(bytes);
  std::string why = "it would leave too little space for orders";
  if (!settings.space || settings.space->HasRoom(wanted)) {
    progress.Begin("copy");
    try {
      const std::string copy = UpgradeCopyPath(path, version);
      CopyInto(writer, copy + ".unfinished", settings.vfs, [&] { progress.Report(); });
      return PutInPlace(copy + ".unfinished", copy);
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::kDiskFull) throw;
      why = fault.cause;
    }
  }
  log::Warning("upgrading without a copy of the database to go back to",
               {{"file", path}, {"mib", bytes / kMebibyte}, {"why", why}});
}

void Apply(Connection& writer, const Migration& migration) {
  try {
    writer.RunScript(migration.sql);
  } catch (const Fault& fault) {
    throw Fault(fault.kind, "migration " + std::to_string(migration.number) + " (" +
                                std::string(migration.name) + "): " + fault.cause);
  }
}

void ApplyAll(Connection& writer, const Settings& settings, int64_t found, Progress& progress) {
  writer.Execute("BEGIN IMMEDIATE");
  try {
    for (const Migration& migration : settings.migrations) {
      if (migration.number <= found) continue;
      progress.Begin(std::string(migration.name));
      Apply(writer, migration);
    }
    progress.Begin("check");
    const std::string broken = writer.Text("PRAGMA foreign_key_check");
    if (!broken.empty()) Refuse("rows of " + broken + " point at nothing");
    writer.RunScript("PRAGMA user_version = " + std::to_string(settings.migrations.back().number));
    progress.Begin("commit");
    writer.Execute("COMMIT");
  } catch (...) {
    writer.Rollback();
    throw;
  }
}

// Runs the upgrade again with the space of the ballast if the disk is full. The ballast is reserved
// for orders, and without the upgrade no orders can be taken.
void ApplyWithBallast(Connection& writer, const Settings& settings, int64_t found,
                      Progress& progress) {
  try {
    return ApplyAll(writer, settings, found, progress);
  } catch (const Fault& fault) {
    const bool full = fault.kind == Fault::Kind::kDiskFull;
    if (!full || !settings.space || settings.is_guest || !settings.space->GiveUpBallast()) throw;
  }
  ApplyAll(writer, settings, found, progress);
}

std::string Missing(Connection& writer, const Settings& settings) {
  const int64_t room = RoomForUpgrade(BytesOf(writer));
  std::string text = "; have " + std::to_string(room) + " bytes free";
  if (settings.space) {
    settings.space->HasRoom(0);
    const int64_t free = settings.space->free_bytes();
    text += ", there are " + std::to_string(free);
    if (free < room) text += ": " + std::to_string(room - free) + " are missing";
  }
  return text;
}

void LeaveRoomToOthers(Connection& writer, const Settings& settings) {
  if (!settings.is_guest || settings.space->HasRoom(RoomForUpgrade(BytesOf(writer)))) return;
  throw Fault(Fault::Kind::kDiskFull, "the upgrade of " + settings.path +
                                          " would take space that is kept for orders" +
                                          Missing(writer, settings));
}

void ApplyOrExplain(Connection& writer, const Settings& settings, int64_t found,
                    Progress& progress) {
  // A migration may rebuild a table that others refer to. Inside a transaction the pragma has no
  // effect.
  writer.Execute("PRAGMA foreign_keys = OFF");
  const SortingFiles files(writer, DirectoryOf(settings.path));
  try {
    ApplyWithBallast(writer, settings, found, progress);
  } catch (const Fault& fault) {
    progress.RethrowEnd();
    const bool full = fault.kind == Fault::Kind::kDiskFull;
    throw Fault(fault.kind, "the upgrade of " + settings.path + " failed, the file is unchanged: " +
                                fault.cause + (full ? Missing(writer, settings) : ""));
  }
}

}  // namespace

std::string OfNewerProgram(const std::string& path, int64_t found, int64_t known) {
  return path + " has schema version " + std::to_string(found) +
         ", this program knows versions up to " + std::to_string(known) +
         ": it was used by a newer program, install that one";
}

bool Migrate(Connection& writer, const Settings& settings, const Clock& clock,
             Heartbeat& heartbeat) {
  const std::string& path = settings.path;
  int known = 0;
  for (const Migration& migration : settings.migrations) {
    CHECK(migration.number == ++known, "migrations are numbered 1, 2, 3 without a gap");
  }
  const bool is_new = IsNew(writer);
  ClaimFile(writer, path);
  const int64_t found = writer.Integer("PRAGMA user_version");
  if (found > known) {
    Refuse(OfNewerProgram(path, found, known));
  }
  if (found == known) return false;

  Progress progress(settings, clock, heartbeat);
  progress.Follow(&writer);
  if (!is_new) {
    log::Notice(
        "upgrading the database, a large one takes minutes",
        {{"file", path}, {"from", found}, {"to", known}, {"mib", BytesOf(writer) / kMebibyte}});
    LeaveRoomToOthers(writer, settings);
    TakeCopy(writer, settings, static_cast<int>(found) + 1, progress);
  }
  ApplyOrExplain(writer, settings, found, progress);
  log::Notice(is_new ? "database made" : "database upgraded",
              {{"file", path}, {"version", known}, {"seconds", progress.seconds()}});
  progress.Begin("close");
  return true;
}

}  // namespace comanda::db
