#include "db/postgresql/owner.h"

#include <unistd.h>

#include <array>

#include "base/concat.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

// Of the two locks of a database, one for each schema; "CMDA".
constexpr int kLockClass = 0x434d4441;

constexpr Sql kRead = R"sql(SELECT term, commits, host FROM owner)sql";
constexpr Sql kTakeOver = R"sql(
    UPDATE owner SET term = term + 1, host = $1,
      timeline = CASE WHEN $2 = '' THEN timeline ELSE $2 END
    RETURNING term, commits, host
    )sql";
constexpr Sql kTimeline = R"sql(UPDATE owner SET timeline = $1)sql";
constexpr Sql kThisTimeline = R"sql(
    UPDATE owner SET timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    )sql";
// In another term there is no row, and the division by zero fails.
constexpr Sql kNumber = R"sql(
    WITH owned AS (UPDATE owner SET commits = $2 WHERE term = $1 RETURNING term)
    SELECT 1 / count(*) FROM owned
    )sql";

int LockOf(const Settings& settings) { return settings.is_guest ? 2 : 1; }

std::string HostName() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

// A statement that is taken, for as long as its rows are read.
class Taken {
 public:
  Taken(Connection& connection, Sql sql, std::initializer_list<Bound> values)
      : connection_(connection), statement_(connection.Take(sql)) {
    connection_.Bind(statement_, values.begin(), values.size(), Copies::kCopied);
  }
  ~Taken() { connection_.Give(statement_); }
  Taken(const Taken&) = delete;

  Statement& statement() { return statement_; }
  Owner ReadRow() {
    if (!connection_.Step(statement_)) {
      throw Fault(Fault::Kind::kInternal,
                  "the table owner of the database has no row: somebody has deleted it");
    }
    return {.term = statement_.Int(0),
            .commits = statement_.Int(1),
            .host = std::string(statement_.View(2))};
  }

 private:
  Connection& connection_;
  Statement& statement_;
};

void RequireRights(Connection& connection, const std::string& may) {
  if (connection.Text("SELECT " + may) == "t") return;
  const std::string database = connection.Text("SELECT current_database()");
  const std::string user = connection.Text("SELECT current_user");
  throw Fault(Fault::Kind::kInternal, "the user " + user + " may not make tables in the database " +
                                          database + ": `ALTER DATABASE " + database +
                                          " OWNER TO " + user + "` makes it the owner");
}

// To a table of a program that did not keep it.
void AddTimeline(Connection& connection) {
  const int64_t found = connection.Integer(
      "SELECT count(*) FROM pg_attribute WHERE attrelid = 'owner'::regclass "
      "AND attname = 'timeline'");
  if (found == 0) {
    connection.Execute("ALTER TABLE owner ADD COLUMN timeline TEXT NOT NULL DEFAULT ''");
  }
}

}  // namespace

void CreateOwnTables(Connection& connection) {
  connection.Execute(
      "CREATE TABLE owner (term BIGINT NOT NULL, commits BIGINT NOT NULL, host TEXT NOT NULL, "
      "timeline TEXT NOT NULL DEFAULT '')");
  connection.Execute("CREATE UNIQUE INDEX owner_one ON owner ((true))");
  connection.Execute("CREATE TABLE schema_version (version BIGINT NOT NULL)");
  connection.Execute("CREATE UNIQUE INDEX schema_version_one ON schema_version ((true))");
}

void MakeOwnTables(Connection& connection, const Settings& settings) {
  const std::string schema = settings.SchemaName();
  const std::string named = "'" + schema + "'";  // live or test
  const bool has_schema =
      connection.Integer("SELECT count(*) FROM pg_namespace WHERE nspname = " + named) > 0;
  const bool has_owner = has_schema && connection.Text("SELECT to_regclass('owner')") != "";
  if (has_owner) {
    AddTimeline(connection);
    return;
  }
  if (has_schema &&
      connection.Integer("SELECT count(*) FROM pg_tables WHERE schemaname = " + named) > 0) {
    throw Fault(Fault::Kind::kInternal, "the schema " + schema +
                                            " of the database is another program's: name another "
                                            "database, or drop the schema");
  }
  RequireRights(connection, has_schema ? "has_schema_privilege(" + named + ", 'CREATE')"
                                       : "has_database_privilege(current_database(), 'CREATE')");
  connection.BeginWriting();
  connection.Execute("CREATE SCHEMA IF NOT EXISTS " + schema);
  CreateOwnTables(connection);
  connection.Execute("INSERT INTO owner (term, commits, host) VALUES (0, 0, '')");
  connection.Execute("INSERT INTO schema_version (version) VALUES (0)");
  connection.Commit();
}

bool HasOwnTables(const Settings& settings, const Clock& clock) {
  Connection connection(settings, Connection::Role::kReader, clock);
  return !connection.Text("SELECT to_regclass('owner')").empty();
}

bool TryLock(Connection& connection, const Settings& settings) {
  return connection.Text("SELECT pg_try_advisory_lock(" + std::to_string(kLockClass) + ", " +
                         std::to_string(LockOf(settings)) + ")") == "t";
}

std::string LockRightsSql(std::string_view user) {
  constexpr std::array kFunctions = {
      "pg_advisory_lock",          "pg_advisory_lock_shared",
      "pg_advisory_xact_lock",     "pg_advisory_xact_lock_shared",
      "pg_try_advisory_lock",      "pg_try_advisory_lock_shared",
      "pg_try_advisory_xact_lock", "pg_try_advisory_xact_lock_shared"};
  std::string sql;
  for (const std::string_view function : kFunctions) {
    sql +=
        Concat({"REVOKE EXECUTE ON FUNCTION pg_catalog.", function, "(int, int) FROM PUBLIC;\n"});
  }
  return sql + Concat({"GRANT EXECUTE ON FUNCTION pg_catalog.pg_try_advisory_lock(int, int) TO ",
                       user, ";\n"});
}

Owner ReadOwner(Connection& connection) { return Taken(connection, kRead, {}).ReadRow(); }

std::string ReadTimeline(Connection& connection) {
  return connection.Text(
      "SELECT CASE WHEN pg_is_in_recovery() THEN '' "
      "ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END");
}

bool IsLocked(Connection& connection, const Settings& settings) {
  return connection.Integer(
             "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = "
             "2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
             "AND classid = " +
             std::to_string(kLockClass) + " AND objid = " + std::to_string(LockOf(settings))) > 0;
}

std::optional<OwnerNote> FindOwner(const Settings& settings, const Clock& clock) {
  Connection connection(settings, Connection::Role::kReader, clock);
  if (!IsLocked(connection, settings) || connection.Text("SELECT to_regclass('owner')").empty())
    return std::nullopt;
  const Owner owner = ReadOwner(connection);
  return OwnerNote{.host = owner.host,
                   .term = owner.term,
                   .commits = owner.commits,
                   .timeline = ReadTimeline(connection),
                   .server = connection.host()};
}

std::string ReadOwnersTimeline(Connection& connection) {
  return connection.Text("SELECT timeline FROM owner");
}

Owner BecomeOwner(Connection& connection, const std::string& timeline) {
  connection.BeginWriting();
  const Owner owner = Taken(connection, kTakeOver, {HostName(), timeline}).ReadRow();
  if (!connection.Commit()) throw connection.failure();
  return owner;
}

void SendTimeline(Connection& connection, const std::string& timeline) {
  Taken taken(connection, kTimeline, {timeline});
  connection.Finish(taken.statement());
}

void NoteTimeline(Tx& tx) { tx.Run(kThisTimeline); }

void SendCommitNumber(Connection& connection, int64_t term, int64_t commits) {
  Taken taken(connection, kNumber, {term, commits});
  connection.Finish(taken.statement());
}

bool IsNotOwner(const Connection& connection) {
  return connection.trouble() != Trouble::kNone && connection.state() == "22012" &&
         connection.failure().cause.ends_with(kNumber.text());
}

}  // namespace comanda::db
