#pragma once

// One database file: live.db or test.db. One writer thread with group commit, a small pool of
// readers (design section 4).
//
// The constructor takes the file through WAL recovery, migrations (db/migrate.h) and the checks;
// the process lock of the data directory is the caller's (db/lock.h). The file and what belongs to
// it are made with mode 0600. All members may be called from any thread.
//
// Why a group: the writer takes the jobs that queued up while the last COMMIT was syncing and puts
// them under one sync, so that many tills on a slow disk wait for one or two syncs each, not for
// one per order, and nobody waits when there is only one. No timer, no window.
//
// What can go wrong with the disk: where there is no space, the job gets kDiskFull, reads go on,
// and the next job or a probe every 2 s finds out when there is space again. Any other failure of a
// write or a sync closes the writer's connection and reopens the file (meanwhile kUnavailable);
// after three times in a row without a commit the process ends with status 70, for systemd to start
// one. A page that is not what was written is such a failure too, and the file is checked before
// writes go on: where it is damaged, the process ends at once.

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/change_counters.h"
#include "db/kept_values.h"
#include "db/session.h"

namespace comanda::db {

struct Migration {
  int number;  // 1, 2, 3 …: user_version after it
  std::string_view name;
  std::string_view sql;
};

class DiskSpace;

struct Settings {
  std::string path = {};
  std::vector<Migration> migrations = {};
  int readers_max = 6;
  size_t queue_max = 1024;      // more: Fault kUnavailable at once
  size_t group_jobs_max = 256;  // one COMMIT takes at most so many jobs
  std::string vfs = {};         // SQLite's door to the disk: the system's when empty
  DiskSpace* space = nullptr;   // measured, its ballast given up for a write; outlives the database
  bool is_guest = false;        // the space is for others: no ballast for it, no upgrade in need
  // Told what is done, now and then while the file is upgraded. What it throws ends the upgrade.
  std::function<void(const std::string& step)> upgrading = {};
};

class Writer;
class ReaderPool;

class Database {
 public:
  // Runs the migrations. Fault where the file cannot be opened, is newer than this program, or its
  // application_id is another's.
  Database(Settings settings, const Clock& clock, Heartbeats& heartbeats,
           metrics::Registry& metrics);
  // Drains the writer, checkpoints, closes.
  ~Database();

  // Runs the job in its group's transaction on the writer thread and returns its result after the
  // commit is on disk. The job may run again when the group had to be rolled back: it must depend
  // on nothing but (tx, input, stamp). What it throws rolls it back alone and is rethrown here.
  // Fault kUnavailable when the queue is full or the database is stopping, kDiskFull when there is
  // no space.
  template <typename Job>
  std::invoke_result_t<Job&, Tx&, const Stamp&> Write(Job&& job) {
    using Result = std::invoke_result_t<Job&, Tx&, const Stamp&>;
    if constexpr (std::is_void_v<Result>) {
      Run([&](Tx& tx, const Stamp& stamp) { job(tx, stamp); });
    } else {
      std::optional<Result> result;
      Run([&](Tx& tx, const Stamp& stamp) { result.emplace(job(tx, stamp)); });
      return std::move(*result);
    }
  }

  // Runs fn(Snapshot&) on this thread on a pooled connection inside one read transaction. Waits at
  // most 5 s for a free connection, then Fault kUnavailable. A query that runs longer than 5 s is
  // interrupted (kUnavailable). fn returns no Rows: they end with the transaction.
  template <typename Fn>
  std::invoke_result_t<Fn&, Snapshot&> Read(Fn&& fn) {
    Lease lease(*this);
    return fn(lease.snapshot());
  }

  // What read(Snapshot&) makes of a company's rows, shared by all who ask until the counter of that
  // kind has changed; one value of each type for a company.
  template <typename Value, typename Fn>
  std::shared_ptr<const Value> Kept(CompanyId company, size_t counter, Fn&& read) {
    const ChangeCounters::Mark mark = counters_.MarkOf(company, counter);  // before the rows
    std::shared_ptr<const Value> value = kept_.Find<Value>(company, mark);
    if (value) return value;
    value = std::make_shared<const Value>(Read(read));
    kept_.Keep(company, mark, value);
    return value;
  }

  // Called on the writer thread after each group's commit and publication (wakes the event feed).
  // Must not throw. Once this returns, the one set before is not running and never will.
  void SetAfterCommit(std::function<void()> wake);

  // The last stamp that an earlier process gave, before the first Write(): stamps go on from there
  // where the clock came back a little behind it, as after a power cut.
  void ContinueFrom(UtcMs last_stamp);

  ChangeCounters& counters() { return counters_; }

  // For /readyz: writable, and since when not and why.
  struct Health {
    bool writable = true;
    std::string reason;
  };
  Health health() const;

  // Refuses new jobs with Fault kUnavailable, finishes those queued; returns when they are
  // answered. Reads go on.
  void Stop();

  // SQLite's quick_check on a connection of its own, for the background after ready: what is wrong,
  // a line each, or empty, also where it was told to stop. May take long. Fault where it cannot be
  // run.
  std::string QuickCheck(std::stop_token stop = {}) const;

  // From now on Fault kDamaged for every Write(), and health() says why: for a file that was
  // found damaged. What SQLite would write into it could destroy more.
  void RefuseWrites(const std::string& why);

 private:
  class Lease {
   public:
    explicit Lease(Database& database);
    ~Lease();
    Snapshot& snapshot() { return *snapshot_; }

   private:
    Database& database_;
    std::unique_ptr<Connection> connection_;
    std::optional<Snapshot> snapshot_;
  };

  void Run(const std::function<void(Tx&, const Stamp&)>& job);

  ChangeCounters counters_;
  KeptValues kept_;
  const Settings settings_;
  const Clock& clock_;
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<Writer> writer_;
};

// The version of SQLite that is linked in, as text and number (3053004). Database refuses to open
// with one older than 3.51.3, which can lose committed transactions.
std::string LibraryVersion();
int LibraryVersionNumber();

}  // namespace comanda::db
