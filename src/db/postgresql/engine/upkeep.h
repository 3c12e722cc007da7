#pragma once

// What the writer does where the database server does not do what it is asked, and whether writes
// are taken. Owns the writer's connection, and with it the database (db/postgresql/owner.h).
//
//   writable      the normal state
//   reconnecting  the connection is lost, or its server is no primary any more. Jobs are refused
//                 with kUnavailable; before the next one, and every second, it is tried again, with
//                 whichever host takes writes. With the lock taken again and the term unchanged it
//                 goes on as before.
//   full          the server has no space: refused with kDiskFull, until a try succeeds
//   read-only     said by RefuseWrites(), until the process ends
//
// A COMMIT whose answer is lost is neither done nor not: its callers wait until the number of the
// commit is found in the row of the owner, or not. Where that takes longer than kUnknownMaxMs, the
// process ends, which cuts their connections without an answer. It ends as well, with status 70 for
// systemd to start it again as the standby, where another process has become the owner: what is
// kept in memory (keys, counters, answers) is true only because nobody else writes.
//
// A lease (db/postgresql/lease.h): the server must have answered on the writer's connection within
// five seconds, or nothing is answered, from memory neither (IsServing). It is asked every
// kAskEveryMs where there is no job, by a commit. A COMMIT that is answered later than that counts
// as one that may be on this server alone. Before such a commit is acknowledged, and where the
// connection is new, the other hosts of the setting are asked whether one of them says as well that
// it is the primary (MayBePrimary).
//
// Belongs to the writer's thread, but for the functions that say otherwise.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "base/time/clock.h"
#include "db/health.h"
#include "db/settings.h"
#include "db/postgresql/lease.h"
#include "engine/connection.h"

namespace comanda::db {

class Upkeep {
 public:
  static constexpr int64_t kUnknownMaxMs = 30'000;
  static constexpr int64_t kAskEveryMs = 2'000;
  static constexpr int64_t kTryEveryMs = 1'000;
  static constexpr int64_t kStatisticsEveryMs = 5'000;
  static constexpr int64_t kStatisticsRows = 1'000;

  // Connects, becomes the owner and takes the schema to the program's. Throws OwnedByAnother where
  // another process is the owner, Fault where the server cannot be used. All arguments outlive it.
  Upkeep(const Settings& settings, const Clock& clock, Heartbeat& heartbeat,
         metrics::Registry& metrics);

  // The one to write through where MayWrite(), until the next call of a function that may connect
  // again: Recover(), Commit(), WhenIdle(), MayWrite().
  Connection& connection() { return *connection_; }
  const Connection& connection() const { return *connection_; }

  bool MayWrite();
  Fault WhyNot() const;
  void Begin();
  void Commit();
  void Rollback();
  // There is no ballast.
  bool MakeSpace() { return false; }
  void BecomeFull();
  // After a transaction that did not commit. Afterwards the next transaction can begin, or
  // MayWrite() says that it cannot.
  void Recover(Trouble trouble);
  // Nothing: an index of the server is its own affair, and no check of this program doubts one.
  void Reindex(const std::string&) {}

  // Behind each group: keeps the statistics of tables that grow. A plan that was made for a small
  // table stays until there are new ones.
  void AfterGroup();
  void WhenIdle(int64_t idle_ms);
  void Last() {}
  bool log_waits() const { return false; }

  // Any thread.
  Health health() const;
  bool IsReadOnly() const;
  // Fault where jobs are refused: read-only or reconnecting. Any thread.
  void RequireOpen() const;
  void RefuseWrites(const std::string& why, bool is_unread = false);
  // False where the lease has run out: nothing is to be answered. Any thread.
  bool IsServing() const;
  // The server, its term and the number of the last commit. Any thread.
  OwnerNote note() const;
  // Whether commits are missing that this program, or the standby that it was, has seen.
  bool went_back() const { return went_back_; }
  // Of the cluster of servers and of the schema in it.
  std::string identity() const;

 private:
  struct Metrics {
    Metrics(metrics::Registry& registry, const std::string& labels);
    metrics::Counter reconnects;
    metrics::Counter found_committed;
    metrics::Counter found_lost;
  };

  std::unique_ptr<Connection> Connect();
  void RequireServer(Connection& connection);
  bool TryConnect();
  bool Prove(Connection& connection, int64_t commits, const std::string& new_timeline = "");
  bool MayBePrimary(Connection& connection) const;
  bool MayHaveLost(const std::string& owners_timeline) const;
  bool MustReconnect() const;
  bool FindOut(int64_t commits);
  void Confirm();
  void BecomeWritable();
  void Refuse(Fault::Kind why, const std::string& reason);
  void NoteOwner(Connection& connection);
  void KeepStatistics();
  void SayWhatItMeets();
  void NoteStandbys();
  [[noreturn]] void EndProcess(const std::string& why);

  const Settings& settings_;
  const Clock& clock_;
  Heartbeat& heartbeat_;
  Metrics metrics_;
  Lease lease_;
  std::unique_ptr<Connection> connection_;
  int64_t term_ = 0;
  int64_t commits_ = 0;
  std::string timeline_;  // of the server that the writer is connected to
  bool went_back_ = false;
  bool writable_ = true;
  Fault::Kind why_not_ = Fault::Kind::kUnavailable;  // where not writable_
  int64_t tried_ms_ = 0;
  int64_t asked_ms_ = 0;
  int64_t statistics_ms_ = 0;
  std::atomic<int64_t> connected_ms_{0};
  std::unordered_map<std::string, int64_t> analysed_rows_;  // by table

  mutable std::mutex mutex_;
  bool reconnecting_ = false;  // guarded by mutex_
  bool read_only_ = false;     // guarded by mutex_
  Health health_;              // guarded by mutex_
  OwnerNote note_;             // guarded by mutex_
  std::string identity_;       // constant from the constructor on
  metrics::Gauge term_gauge_;
  metrics::Gauge connected_gauge_;
  std::optional<metrics::Gauge> round_trips_gauge_;  // of the process, shown with the live database
};

}  // namespace comanda::db
