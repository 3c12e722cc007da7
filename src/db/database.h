#pragma once

// One database file: live.db or test.db. One writer thread with group commit, a small pool of
// readers (design section 4).
//
// The constructor takes the file through WAL recovery, migrations (db/sqlite/migrate.h) and the
// checks; the process lock of the data directory is the caller's (db/lock.h). The file and what
// belongs to it are made with mode 0600. All members may be called from any thread.
//
// How writes are grouped is in db/writer.h, what happens when the disk is full or fails in
// engine/upkeep.h; reads go on meanwhile.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/change_counters.h"
#include "db/company_id.h"
#include "db/damaged_rows.h"
#include "db/health.h"
#include "db/kept_values.h"
#include "db/session.h"
#include "db/settings.h"

namespace comanda::db {

// What nobody else needs to see (db/writer.h, db/readers.h).
class Writer;
class ReaderPool;
class Watcher;

class Database {
 public:
  // Runs the migrations. Where the file system is read-only, the file is read as it is, and written
  // as soon as it can be: Fault kDiskReadOnly only where it must be made or upgraded first. Fault
  // where the file cannot be opened, is newer than this program, or its application_id is
  // another's.
  Database(Settings settings, const Clock& clock, Heartbeats& heartbeats,
           metrics::Registry& metrics);
  // Drains the writer, checkpoints, closes.
  ~Database();

  // Runs the job in its group's transaction on the writer thread and returns its result after the
  // commit is on disk. The job may run again when the group had to be rolled back: it must depend
  // on nothing but (tx, input, stamp). What it throws rolls it back alone and is rethrown here.
  // Fault kUnavailable when the queue is full or the database is stopping, kDiskFull when there is
  // no space, kDiskReadOnly when the file system takes no writes.
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
  std::invoke_result_t<Fn&, Snapshot&> Read(Fn&& fn, Readers reader = Readers::kShared) {
    Lease lease(*this, reader);
    return fn(lease.snapshot());
  }

  // The result of read(Snapshot&) on a company's rows, cached and shared by all callers until the
  // change counter of that kind moves (db/kept_values.h). One value of each type for a company.
  template <typename Value, typename Fn>
  std::shared_ptr<const Value> Kept(CompanyId company, size_t counter, Fn&& read,
                                    Readers reader = Readers::kShared) {
    const ChangeCounters::Revision revision =
        counters_.RevisionOf(company, counter);  // before the rows
    std::shared_ptr<const Value> value = kept_.Find<Value>(company, revision);
    if (value) return value;
    value = std::make_shared<const Value>(Read(read, reader));
    kept_.Keep(company, revision, value);
    return value;
  }

  // Called on the writer thread after each group's commit and publication (wakes the event feed).
  // Must not throw. Once this returns, the one set before is not running and never will.
  void SetAfterCommit(std::function<void()> wake);

  // The last stamp that an earlier process gave; to be set before the first Write(). Stamps
  // continue from there where the clock is a little behind it, as after a power cut.
  void ContinueFrom(UtcMs last_stamp);

  ChangeCounters& counters() { return counters_; }
  const Settings& settings() const { return settings_; }

  // For /readyz.
  Health health() const;

  // Whether no job is taken before somebody acts: the disk is read-only, or the file is damaged.
  // What follows the event log rests then: it could not keep how far it has come. Any thread.
  bool IsReadOnly() const;
  // Whether the file is open with Sharing::kAlone (db/sqlite/file_calls.h): it is not checked in
  // the background then.
  bool IsAlone() const;

  // Of an engine whose database several processes can reach (engine/upkeep.h): whether anything may
  // be answered now, from memory neither; who owns the database; whether commits are missing that
  // this program has seen. A file is its process' own. Any thread.
  bool IsServing() const;
  OwnerNote owner() const;
  bool WentBack() const;
  // Which database it is, in two words: it is another one where somebody has put a copy in its
  // place.
  std::string Identity() const;

  // Refuses new jobs with Fault kUnavailable, finishes those queued; returns when they are
  // answered. Reads go on.
  void Stop();

  // For those that check the file (integrity/checker.h).
  //
  // Whether a statement met what may be damage since the last call. Any thread.
  bool TakeSuspicion() { return is_suspected_.exchange(false); }
  // Whether a checkpoint waits for readers now (db/sqlite/checkpointer.h): one that can begin again
  // ends. Any thread.
  bool log_waits() const;
  // Makes an index that disagrees with its table again from the rows of the table, before the next
  // Write(); its outcome is in the log. All pages of the index and the table must be sound.
  void Reindex(const std::string& index);
  // From now on Fault kReadOnly for every Write(), and health() says why: for a file that was found
  // damaged, or of which the disk cannot read a part (`is_unread`). What SQLite would write into it
  // could destroy more. Any thread.
  void RefuseWrites(const std::string& why, bool is_unread = false);

  DamagedRows& damaged_rows() { return damaged_rows_; }
  const DamagedRows& damaged_rows() const { return damaged_rows_; }

  // For checks that take long, on a connection of its own (db/watcher.h).
  std::unique_ptr<Watcher> Watch() const;

 private:
  class Lease {
   public:
    Lease(Database& database, Readers reader);
    ~Lease();
    Snapshot& snapshot() { return *snapshot_; }

   private:
    Database& database_;
    const Readers reader_;
    std::unique_ptr<Connection> connection_;
    std::optional<Snapshot> snapshot_;
  };

  void Run(const std::function<void(Tx&, const Stamp&)>& job);

  ChangeCounters counters_;
  KeptValues kept_;
  Settings settings_;  // const from the constructor on
  const Clock& clock_;
  DamagedRows damaged_rows_;
  std::atomic<bool> is_suspected_{false};
  std::unique_ptr<ReaderPool> readers_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace comanda::db
