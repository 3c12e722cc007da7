#pragma once

// One database file: live.db or test.db. One writer thread with group commit, a small pool of readers
// (design section 4).
//
// Open() takes the file through WAL recovery, migrations (a copy is taken before each) and the checks;
// the process lock of the data directory is the caller's (db/lock.h).

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/change_counters.h"
#include "db/session.h"

namespace comanda::db {

struct Migration {
  int number;  // 1, 2, 3 …: user_version after it
  std::string_view name;
  std::string_view sql;
};

struct Settings {
  std::string path;
  std::vector<Migration> migrations;
  int readers_max = 6;
  size_t queue_max = 1024;      // more: Fault kUnavailable at once
  size_t group_jobs_max = 256;  // one COMMIT takes at most so many jobs
};

class Writer;
class ReaderPool;

class Database {
 public:
  // Runs the migrations. Fault where the file cannot be opened, is newer than this program, or its
  // application_id is another's.
  Database(Settings settings, const Clock& clock, Heartbeats& heartbeats, metrics::Registry& metrics);
  // Drains the writer, checkpoints, closes.
  ~Database();

  // Runs the job in a transaction of its own (a SAVEPOINT in the group's) on the writer thread and
  // returns its result after the commit is on disk. The job may run again when the group had to be
  // rolled back: it must depend on nothing but (tx, input, stamp). What it throws rolls it back alone
  // and is rethrown here. Fault kUnavailable when the queue is full or the database is stopping,
  // kDiskFull when there is no space.
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

  // Runs fn(Snapshot&) on this thread on a pooled connection inside one read transaction. Waits at most
  // 5 s for a free connection, then Fault kUnavailable.
  template <typename Fn>
  std::invoke_result_t<Fn&, Snapshot&> Read(Fn&& fn) {
    Lease lease(*this);
    return fn(lease.snapshot());
  }

  // Called on the writer thread after each group's commit and publication (wakes the event feed).
  void SetAfterCommit(std::function<void()> wake);

  ChangeCounters& counters() { return counters_; }

  // For /readyz: writable, and since when not and why.
  struct Health {
    bool writable = true;
    std::string reason;
  };
  Health health() const;

  // Refuses new jobs with Fault kUnavailable, finishes those queued.
  void Stop();

 private:
  class Lease {
   public:
    explicit Lease(Database& database);
    ~Lease();
    Snapshot& snapshot() { return *snapshot_; }

   private:
    Database& database_;
    Connection* connection_;
    std::unique_ptr<Snapshot> snapshot_;
  };

  void Run(const std::function<void(Tx&, const Stamp&)>& job);

  ChangeCounters counters_;
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<Writer> writer_;
};

// The version of SQLite that is linked in, as text and number (3053004). Database refuses to open with
// one older than 3.51.3, which can lose committed transactions.
std::string LibraryVersion();
int LibraryVersionNumber();

}  // namespace comanda::db
