#include "engine/upkeep.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "db/postgresql/migrate.h"
#include "db/postgresql/owner.h"
#include "db/postgresql/states.h"
#include "db/postgresql/status.h"

namespace comanda::db {
namespace {

constexpr int kExitStatus = 70;  // EX_SOFTWARE
constexpr int64_t kVersionMin = 150'000;
constexpr std::chrono::milliseconds kBetweenTries{100};
// After a transaction that is known to have failed, its callers are told so at last.
constexpr int64_t kRecoverMaxMs = 10'000;
constexpr const char* kTwoPrimaries =
    "another host of the setting `database` says as well that it is the primary, and this one "
    "waits "
    "for no standby";

}  // namespace

Upkeep::Metrics::Metrics(metrics::Registry& registry, const std::string& labels)
    : reconnects(registry, "comanda_db_reconnects_total",
                 "Connections of the writer that took the place of a lost one.", labels),
      found_committed(registry, "comanda_db_unknown_commits_total",
                      "Commits whose answer was lost, by what was found afterwards.",
                      labels + ",outcome=\"committed\""),
      found_lost(registry, "comanda_db_unknown_commits_total",
                 "Commits whose answer was lost, by what was found afterwards.",
                 labels + ",outcome=\"lost\"") {}

Upkeep::Upkeep(const Settings& settings, const Clock& clock, Heartbeat& heartbeat,
               metrics::Registry& metrics)
    : settings_(settings),
      clock_(clock),
      heartbeat_(heartbeat),
      metrics_(metrics, settings.MetricLabels()),
      connection_(Connect()),
      term_gauge_(
          metrics, "comanda_db_term", "How often the database was taken over by a process.",
          [this] { return static_cast<double>(note().term); }, settings.MetricLabels()),
      connected_gauge_(
          metrics, "comanda_db_connected_seconds",
          "How long the writer has had its connection; 0: it has none.",
          [this] {
            const std::lock_guard lock(mutex_);
            const int64_t since_ms = clock_.MonotonicMs() - connected_ms_;
            return reconnecting_ ? 0.0 : static_cast<double>(since_ms) / 1'000;
          },
          settings.MetricLabels()) {
  connected_ms_ = clock_.MonotonicMs();
  connection_->ProlongWithAnswers(lease_);
  if (!settings_.is_guest) {
    round_trips_gauge_.emplace(metrics, "comanda_db_round_trips_total",
                               "How often the process has waited for the database server.",
                               [] { return static_cast<double>(Connection::RoundTrips()); });
  }
  RequireServer(*connection_);
  MakeOwnTables(*connection_, settings_);
  if (!TryLock(*connection_, settings_)) {
    NoteOwner(*connection_);
    throw OwnedByAnother(note());
  }
  if (!MayBePrimary(*connection_)) throw Fault(Fault::Kind::kUnavailable, kTwoPrimaries);
  Migrate(*connection_, settings_, heartbeat_);
  RequireCatalogue(*connection_, settings_);
  timeline_ = ReadTimeline(*connection_);
  commits_ = ReadOwner(*connection_).commits;
  went_back_ = MayHaveLost(ReadOwnersTimeline(*connection_));
  const int64_t asked_ms = clock_.MonotonicMs();
  connection_->TakeWarning();
  term_ = BecomeOwner(*connection_, went_back_ ? "" : timeline_).term;
  if (connection_->TakeWarning()) {
    throw Fault(Fault::Kind::kUnavailable, "a commit does not reach the standby of the database");
  }
  lease_.Renew(asked_ms);
  NoteOwner(*connection_);
  SayWhatItMeets();
  identity_ = connection_->Text(
      "SELECT (SELECT system_identifier FROM pg_control_system()) || ' ' || "
      "CAST(CAST(current_schema() AS regnamespace) AS oid)");
}

// Whether this take-over may be behind what the former owner acknowledged. On another timeline than
// before, nobody knows, unless the newest commit was seen: the standby that became the primary, or
// the backup that was restored, may have been short of some.
bool Upkeep::MayHaveLost(const std::string& owners_timeline) const {
  const std::optional<OwnerNote>& seen = settings_.standby_note;
  if (seen && commits_ < seen->commits) return true;
  const std::string& before = seen ? seen->timeline : owners_timeline;
  return !before.empty() && before != timeline_ && !(seen && seen->commits == commits_);
}

std::unique_ptr<Connection> Upkeep::Connect() {
  return std::make_unique<Connection>(settings_, Connection::Role::kWriter, clock_);
}

// What the program relies on.
void Upkeep::RequireServer(Connection& connection) {
  struct Rule {
    const char* sql;
    const char* wanted;
    const char* advice;
  };
  const Rule rules[] = {
      {"SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()",
       "UTF8", "make the database with ENCODING UTF8"},
      {"SELECT CASE WHEN datcollate IN ('C', 'POSIX') THEN 'C' ELSE datcollate END FROM "
       "pg_database "
       "WHERE datname = current_database()",
       "C", "make the database with TEMPLATE template0 LOCALE 'C'"},
      {"SELECT CASE WHEN datctype IN ('C', 'POSIX') THEN 'C' ELSE datctype END FROM pg_database "
       "WHERE datname = current_database()",
       "C", "make the database with TEMPLATE template0 LOCALE 'C'"},
      {"SELECT current_setting('standard_conforming_strings')", "on",
       "set standard_conforming_strings = on"},
      {"SELECT current_setting('fsync')", "on", "set fsync = on: a power cut would lose all"},
      {"SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN 'off' ELSE 'on' END",
       "on", "set synchronous_commit = on: an acknowledged order must be on disk"},
  };
  if (const int64_t version = connection.Integer("SELECT current_setting('server_version_num')");
      version < kVersionMin) {
    throw Fault(Fault::Kind::kInternal, "the database server is of version " +
                                            std::to_string(version / 10'000) +
                                            ": install PostgreSQL 15 or later");
  }
  for (const Rule& rule : rules) {
    const std::string found = connection.Text(rule.sql);
    if (found == rule.wanted) continue;
    throw Fault(Fault::Kind::kInternal, "the database cannot be used, it has " + found + " where " +
                                            rule.wanted + " is needed: " + rule.advice);
  }
}

void Upkeep::NoteOwner(Connection& connection) {
  const Owner owner = ReadOwner(connection);
  const std::string timeline = ReadTimeline(connection);
  const std::lock_guard lock(mutex_);
  note_ = {.host = owner.host,
           .term = owner.term,
           .commits = owner.commits,
           .timeline = timeline,
           .server = connection.host()};
}

// To the log, once; the standbys are those of the whole server.
void Upkeep::SayWhatItMeets() {
  constexpr int kOthers = 2;  // the writer, and the checks of the rows
  log::Notice(
      "connected to the database",
      {{"database", settings_.SchemaName()},
       {"host", connection_->host()},
       {"connections_at_most", settings_.readers_max + kOthers},
       {"max_connections", connection_->Integer("SELECT current_setting('max_connections')")}});
  if (settings_.is_guest) return;
  NoteStandbys();
  const std::optional<StandbyCounts> standbys = note().standbys;
  if (!standbys) {
    log::Warning(
        "the user of the database may not see its standbys, which are not shown: GRANT pg_monitor "
        "to it",
        {{"host", connection_->host()}});
  } else if (standbys->in_sync == 0) {
    log::Warning(
        "no standby of the database is synchronous: what was acknowledged is lost with this server",
        {{"host", connection_->host()}, {"standbys", standbys->all}});
  }
}

void Upkeep::NoteStandbys() {
  std::optional<StandbyCounts> standbys;
  try {
    standbys = CountStandbys(*connection_);
  } catch (const Fault&) {  // the next job meets it too
  }
  const std::lock_guard lock(mutex_);
  note_.standbys = standbys;
}

std::string Upkeep::identity() const { return identity_; }

OwnerNote Upkeep::note() const {
  const std::lock_guard lock(mutex_);
  return note_;
}

bool Upkeep::MayWrite() {
  if (!writable_ && clock_.MonotonicMs() - tried_ms_ >= kTryEveryMs) {
    if (!MustReconnect() || TryConnect()) BecomeWritable();
  }
  return writable_;
}

Fault Upkeep::WhyNot() const { return Fault(why_not_, health().reason); }

void Upkeep::Begin() {
  connection_->BeginWriting();
  connection_->RequireTransaction(true);
}

void Upkeep::Commit() {
  const int64_t number = commits_ + 1;
  const int64_t asked_ms = clock_.MonotonicMs();
  bool is_committed = false;
  try {
    SendCommitNumber(*connection_, term_, number);
    is_committed = connection_->Commit();
  } catch (const Fault&) {
    if (IsNotOwner(*connection_)) EndProcess("another process has become the owner");
    if (!connection_->is_lost() || !FindOut(number)) throw;
    is_committed = true;
    Confirm();
  }
  // A COMMIT behind a statement that failed is answered ROLLBACK, without an error.
  if (!is_committed) throw connection_->failure();
  connection_->RequireTransaction(false);
  commits_ = number;
  if (connection_->TakeWarning() || clock_.MonotonicMs() - asked_ms >= Lease::kMs) {
    Confirm();
  } else {
    lease_.Renew(asked_ms);
  }
  {
    const std::lock_guard lock(mutex_);
    note_.commits = number;
  }
  if (!writable_) BecomeWritable();
}

// What became of a COMMIT whose answer is lost. The server may still be at it, and holds the lock
// as long: once it is taken again, the number is in the row or never will be.
bool Upkeep::FindOut(int64_t commits) {
  log::Error("the answer to a commit is lost: looking for it",
             {{"database", settings_.SchemaName()}, {"commit", commits}});
  const int64_t until_ms = clock_.MonotonicMs() + kUnknownMaxMs;
  while (!TryConnect()) {
    if (clock_.MonotonicMs() > until_ms) EndProcess("nobody knows what became of a commit");
    heartbeat_.Beat();
    std::this_thread::sleep_for(kBetweenTries);
  }
  const bool is_done = commits_ == commits;
  log::Notice(is_done ? "the commit was done" : "the commit was not done",
              {{"database", settings_.SchemaName()}, {"commit", commits}});
  (is_done ? metrics_.found_committed : metrics_.found_lost).Add();
  return is_done;
}

// Whether a commit of nothing gets through: the server is the primary, and the standby has all that
// was committed before. The log goes there in order.
bool Upkeep::Prove(Connection& connection, int64_t commits, const std::string& new_timeline) {
  const int64_t asked_ms = clock_.MonotonicMs();
  connection.TakeWarning();
  connection.BeginWriting();
  if (!new_timeline.empty()) SendTimeline(connection, new_timeline);
  SendCommitNumber(connection, term_, commits);
  if (!connection.Commit() || connection.TakeWarning()) return false;
  if (clock_.MonotonicMs() - asked_ms >= Lease::kMs) return false;
  lease_.Renew(asked_ms);
  return true;
}

// Whether this server may be the primary, as far as can be told before a commit of it has ended.
// Two hosts say so where a former primary hung and wakes, or where somebody has promoted a standby
// by hand. The one that was elected waits for a standby, sooner or later; the other one's commits
// do not end, or wait for nothing and are lost. Hosts that cannot be reached, and standbys, say
// nothing.
bool Upkeep::MayBePrimary(Connection& connection) const {
  if (!connection.Text("SELECT current_setting('synchronous_standby_names')").empty()) return true;
  for (const std::string& host : Connection::HostsOf(settings_.database)) {
    if (host == connection.host()) continue;
    Settings other = settings_;
    other.server_of_writer = [&host] { return host; };
    try {
      const Connection there(other, Connection::Role::kReader, clock_);
      log::Warning("two database servers say that they are the primary",
                   {{"host", connection.host()}, {"other", there.host()}});
      return false;
    } catch (const Fault&) {  // a standby, or not reachable
    }
    heartbeat_.Beat();
  }
  return true;
}

// A commit that may be on this server alone is acknowledged once another one behind it is on the
// standby.
void Upkeep::Confirm() {
  bool is_asked = false;  // once, since hosts that are dead answer late
  const int64_t until_ms = clock_.MonotonicMs() + kUnknownMaxMs;
  while (clock_.MonotonicMs() < until_ms) {
    heartbeat_.Beat();
    try {
      if (!is_asked && !MayBePrimary(*connection_)) EndProcess(kTwoPrimaries);
      is_asked = true;
      if (Prove(*connection_, commits_)) return;
    } catch (const Fault&) {
      if (IsNotOwner(*connection_)) EndProcess("another process has become the owner");
      if (!connection_->is_lost()) connection_->Rollback();
      while (connection_->is_lost() && clock_.MonotonicMs() < until_ms && !TryConnect()) {
        heartbeat_.Beat();
        std::this_thread::sleep_for(kBetweenTries);
      }
    }
  }
  EndProcess("a commit is not known to be on the standby");
}

void Upkeep::Rollback() {
  if (!connection_->Rollback()) throw connection_->failure();
}

bool Upkeep::MustReconnect() const {
  return connection_->is_lost() || (connection_->trouble() != Trouble::kNone &&
                                    StateOf(connection_->state()).next == Next::kReconnect);
}

void Upkeep::BecomeFull() {
  if (writable_) {
    log::Error("the database server has no space: no more writes until there is some",
               {{"database", settings_.SchemaName()}});
  }
  Refuse(Fault::Kind::kDiskFull, "the database server has no space");
}

void Upkeep::Recover(Trouble trouble) {
  const bool must_reconnect = MustReconnect();
  if (connection_->Rollback() && !must_reconnect) {
    if (trouble == Trouble::kFull) BecomeFull();
    return;
  }
  connection_->Close();  // it may live, and its session has the lock
  Refuse(Fault::Kind::kUnavailable, "the connection to the database is lost");
  const int64_t until_ms = clock_.MonotonicMs() + kRecoverMaxMs;
  while (!TryConnect()) {
    if (clock_.MonotonicMs() > until_ms) return;
    heartbeat_.Beat();
    std::this_thread::sleep_for(kBetweenTries);
  }
  BecomeWritable();
}

// True where the writer has a connection again, and the database is still this process'. The number
// of the last commit is then what the row has, if that is not smaller than it was.
bool Upkeep::TryConnect() {
  tried_ms_ = clock_.MonotonicMs();
  try {
    std::unique_ptr<Connection> fresh = Connect();
    RequireServer(*fresh);
    const bool has_lock = TryLock(*fresh, settings_);
    const Owner owner = ReadOwner(*fresh);
    if (owner.term > term_) EndProcess("another process has become the owner");
    if (!has_lock) return false;  // the server has not seen yet that the lost connection is gone
    if (owner.term < term_ || owner.commits < commits_) {
      went_back_ = true;
      if (settings_.note_went_back) settings_.note_went_back(commits_);
      EndProcess("the database went back: commits that were acknowledged are missing");
    }
    // A former primary that hung and wakes takes locks and is read. Its standbys are gone, and it
    // does not get through with a commit, unless it waits for none.
    const std::string timeline = ReadTimeline(*fresh);
    if (!MayBePrimary(*fresh)) return false;
    if (!Prove(*fresh, owner.commits, went_back_ ? "" : timeline)) return false;
    connection_ = std::move(fresh);
    commits_ = owner.commits;
    timeline_ = timeline;
    // The lease is the owner's: a connection without the lock does not prolong it.
    connection_->ProlongWithAnswers(lease_);
    connected_ms_ = clock_.MonotonicMs();
    const std::lock_guard lock(mutex_);
    note_.server = connection_->host();
  } catch (const Fault& fault) {
    const std::lock_guard lock(mutex_);
    if (!read_only_) health_.reason = fault.cause;
    return false;
  }
  metrics_.reconnects.Add();
  log::Notice("connected to the database again",
              {{"database", settings_.SchemaName()}, {"host", connection_->host()}});
  return true;
}

void Upkeep::BecomeWritable() {
  writable_ = true;
  const std::lock_guard lock(mutex_);
  reconnecting_ = false;
  if (!read_only_) health_ = {true, ""};
}

void Upkeep::Refuse(Fault::Kind why, const std::string& reason) {
  tried_ms_ = clock_.MonotonicMs();
  writable_ = false;
  why_not_ = why;
  const std::lock_guard lock(mutex_);
  reconnecting_ = why == Fault::Kind::kUnavailable;
  if (!read_only_) health_ = {false, reason};
}

void Upkeep::AfterGroup() {
  if (!writable_ || clock_.MonotonicMs() - statistics_ms_ < kStatisticsEveryMs) return;
  KeepStatistics();
  if (!settings_.is_guest) NoteStandbys();
}

void Upkeep::WhenIdle(int64_t) {
  if (!writable_) {
    MayWrite();
    return;
  }
  const int64_t now_ms = clock_.MonotonicMs();
  if (now_ms - asked_ms_ < kAskEveryMs) return;
  asked_ms_ = now_ms;
  try {
    connection_->ClearTrouble();
    if (Prove(*connection_, commits_)) AfterGroup();
  } catch (const Fault& fault) {
    if (IsNotOwner(*connection_)) EndProcess("another process has become the owner");
    log::Error("the database does not answer",
               {{"database", settings_.SchemaName()}, {"cause", fault.cause}});
    Recover(connection_->trouble());
  }
}

// Those that have passed kStatisticsRows, and each time they have doubled since.
void Upkeep::KeepStatistics() {
  statistics_ms_ = clock_.MonotonicMs();
  std::vector<std::pair<std::string, int64_t>> grown;
  constexpr Sql kRows = R"sql(
      SELECT CAST(relname AS text), n_live_tup FROM pg_stat_user_tables
      WHERE schemaname = current_schema()
      )sql";
  Statement& statement = connection_->Take(kRows);
  try {
    connection_->Bind(statement, nullptr, 0, Copies::kCopied);
    while (connection_->Step(statement)) {
      const std::string table(statement.View(0));
      const int64_t rows = statement.Int(1);
      if (rows >= std::max(kStatisticsRows, 2 * analysed_rows_[table])) {
        grown.emplace_back(table, rows);
      }
    }
    connection_->Give(statement);
  } catch (const Fault&) {
    connection_->Give(statement);
    return;
  }
  for (const auto& [table, rows] : grown) {
    analysed_rows_[table] = rows;
    try {
      connection_->Execute("ANALYZE " + table);
    } catch (const Fault& fault) {
      log::Warning("a table has no new statistics", {{"table", table}, {"cause", fault.cause}});
    }
    heartbeat_.Beat();
  }
}

Health Upkeep::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

bool Upkeep::IsReadOnly() const {
  const std::lock_guard lock(mutex_);
  return read_only_;
}

void Upkeep::RequireOpen() const {
  const std::lock_guard lock(mutex_);
  if (read_only_) throw Fault(Fault::Kind::kReadOnly, health_.reason);
  if (reconnecting_) throw Fault(Fault::Kind::kUnavailable, health_.reason);
}

void Upkeep::RefuseWrites(const std::string& why, bool) {
  {
    const std::lock_guard lock(mutex_);
    if (read_only_) return;
    health_ = {.writable = false, .reason = "damaged: restore the database server"};
    reconnecting_ = false;
    read_only_ = true;
  }
  log::Error("the database is damaged and takes no more writes", {{"found", why}});
}

bool Upkeep::IsServing() const { return lease_.Holds(clock_.MonotonicMs()); }

void Upkeep::EndProcess(const std::string& why) {
  log::Error("ending the process, to start again as the standby",
             {{"database", settings_.SchemaName()}, {"why", why}});
  ::_exit(kExitStatus);
}

}  // namespace comanda::db
