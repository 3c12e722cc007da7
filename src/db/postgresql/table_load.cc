#include "db/postgresql/table_load.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "crypto/secret_stream.h"
#include "db/change_counters.h"
#include "db/postgresql/owner.h"
#include "engine/upkeep.h"

namespace comanda::db {
namespace {

constexpr size_t kPieceBytes = 256 * 1024;
// Of the sandbox's connection, whose lock is held meanwhile.
constexpr int64_t kAskEveryMs = 2'000;

[[noreturn]] void Refuse(std::string why) {
  throw Refusal(Problem::kValidationFailed, std::move(why));
}

// Rows of two texts.
std::vector<std::pair<std::string, std::string>> Pairs(Connection& connection,
                                                       std::string_view sql) {
  std::vector<std::pair<std::string, std::string>> pairs;
  Statement& statement = connection.Take(sql);
  try {
    connection.Bind(statement, nullptr, 0, Copies::kCopied);
    while (connection.Step(statement)) {
      pairs.emplace_back(statement.View(0), statement.View(1));
    }
  } catch (...) {
    connection.Give(statement);
    throw;
  }
  connection.Give(statement);
  return pairs;
}

// The tables that migrations make, with their columns in the order of their names.
constexpr std::string_view kTables = R"sql(
    SELECT CAST(c.relname AS text), string_agg(a.attname, ', ' ORDER BY a.attname)
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'
      AND a.attnum > 0 AND NOT a.attisdropped AND c.relname NOT IN ('owner', 'schema_version')
    GROUP BY c.relname
    )sql";
// What is made again behind the rows: then the order of the tables does not matter, and an index is
// sorted once. The statements that drop and make each.
constexpr std::string_view kForeignKeys = R"sql(
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', CAST(conrelid AS regclass), conname),
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', CAST(conrelid AS regclass), conname,
        pg_get_constraintdef(oid))
    FROM pg_constraint
    WHERE contype = 'f' AND connamespace = CAST(current_schema() AS regnamespace)
    )sql";
constexpr std::string_view kIndexes = R"sql(
    SELECT format('DROP INDEX %I', c.relname), pg_get_indexdef(c.oid)
    FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_class AS t ON t.oid = i.indrelid
    WHERE c.relnamespace = CAST(current_schema() AS regnamespace)
      AND t.relname NOT IN ('owner', 'schema_version')
      AND NOT EXISTS (SELECT 1 FROM pg_constraint AS o WHERE o.conindid = i.indexrelid)
    )sql";

std::string Quoted(const std::string& name) { return "\"" + name + "\""; }

std::string InOrder(std::vector<std::string> columns) {
  std::ranges::sort(columns);
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : ", ") + column;
  return text;
}

// The server has exactly the tables and columns of the export, so that none is left out. Names from
// the manifest are known from here on.
void RequireSameTables(Connection& connection, const std::vector<ExportedTable>& tables) {
  std::map<std::string, std::string> known;
  for (auto& [name, columns] : Pairs(connection, kTables)) known.emplace(name, columns);
  for (const ExportedTable& table : tables) {
    const auto found = known.find(table.name);
    if (found == known.end()) {
      Refuse("the export has the table " + table.name +
             ", which this program does not know or which is there twice: export again, with "
             "`comanda` of the same version");
    }
    if (found->second != InOrder(table.columns)) {
      Refuse("the table " + table.name + " has other columns in the export (" +
             InOrder(table.columns) + ") than here (" + found->second +
             "): export again, with `comanda` of the same version");
    }
    known.erase(found);
  }
  if (known.empty()) return;
  Refuse("the export lacks the table " + known.begin()->first +
         ": export again, with `comanda` of the same version");
}

// Of the restaurants. A sandbox beside none of them is the one that a server makes when it begins.
void RequireEmpty(Connection& connection) {
  const int64_t companies = connection.Integer("SELECT count(*) FROM company");
  if (companies == 0) return;
  Refuse(
      "the database is not empty, it has " + std::to_string(companies) +
      " companies. Where an earlier `comanda-head load` was interrupted, that one is whole, since "
      "it commits all or nothing: start the server. Else name a new database in the setting "
      "`database`");
}

void RequireFile(const std::string& directory, const ExportedTable& table) {
  const std::string path = directory + "/" + table.FileName();
  const int64_t bytes = SizeOf(path);
  if (IsThere(path) && bytes == table.bytes) return;
  Refuse(path +
         (IsThere(path) ? " has " + std::to_string(bytes) + " bytes instead of " +
                              std::to_string(table.bytes) + ": it was cut or changed"
                        : std::string(" is missing")) +
         " since the export. Nothing was loaded: copy the export again, or export again");
}

class Load {
 public:
  Load(const Loading& loading, const Clock& clock)
      : loading_(loading),
        clock_(clock),
        heartbeats_(clock),
        heartbeat_(heartbeats_, "load", INT64_MAX),
        live_(loading.live, clock, heartbeat_, metrics_),
        test_(loading.test, clock, heartbeat_, metrics_),
        connection_(live_.connection()) {}

  Loaded Run() {
    for (const ExportedTable& table : loading_.manifest.tables) {
      if (table.schema != "live" && table.schema != "test") Refuse("the manifest was changed");
      RequireFile(loading_.directory, table);
    }
    RequireEmpty(connection_);
    live_.Begin();
    connection_.Execute("SET LOCAL statement_timeout = 0");
    LoadSchema("test");
    // The row of the sandbox's owner, in the same transaction.
    SendCommitNumber(connection_, test_.note().term, test_.note().commits + 1);
    LoadSchema("live");
    loading_.progress("committing");
    live_.Commit();
    return {.live = {.identity = live_.identity(), .commits = live_.note().commits},
            .test = {.identity = test_.identity(), .commits = test_.note().commits + 1},
            .term = live_.note().term};
  }

 private:
  std::vector<ExportedTable> TablesOf(const std::string& schema) const {
    std::vector<ExportedTable> tables;
    for (const ExportedTable& table : loading_.manifest.tables) {
      if (table.schema == schema) tables.push_back(table);
    }
    return tables;
  }

  void LoadSchema(const std::string& schema) {
    connection_.Execute("SET LOCAL search_path = " + schema);
    const std::vector<ExportedTable> tables = TablesOf(schema);
    if (tables.empty() && schema == "test") return;  // a cloud that never had a sandbox
    RequireSameTables(connection_, tables);
    // A server that has begun without a company has written which machine it is.
    std::string names;
    for (const ExportedTable& table : tables) {
      names += (names.empty() ? "" : ", ") + Quoted(table.name);
    }
    Run("TRUNCATE " + names);
    std::vector<std::pair<std::string, std::string>> later = Pairs(connection_, kIndexes);
    const auto keys = Pairs(connection_, kForeignKeys);
    for (const auto& [drop, make] : keys) Run(drop);
    for (const auto& [drop, make] : later) Run(drop);
    int64_t rows = 0;
    for (const ExportedTable& table : tables) {
      LoadTable(table);
      rows += table.rows;
    }
    loading_.progress(schema + "  " + std::to_string(tables.size()) + " tables, " +
                      std::to_string(rows) + " rows: making indexes");
    for (const auto& [drop, make] : later) Run(make);
    for (const auto& [drop, make] : keys) Run(make);
    ChangeCounters counters;
    Tx tx(connection_, counters);
    loading_.complete(tx);
    // A plan that was made for a table without rows stays until there are statistics.
    Run("ANALYZE " + names);
    connection_.TakeWarning();
  }

  void LoadTable(const ExportedTable& table) {
    const std::string path = loading_.directory + "/" + table.FileName();
    const Fd fd = OpenToRead(path);
    crypto::Blake2b sum;
    std::string columns;
    for (const std::string& column : table.columns) {
      columns += (columns.empty() ? "" : ", ") + Quoted(column);
    }
    std::string piece;
    const int64_t rows = connection_.CopyIn(
        "COPY " + Quoted(table.name) + " (" + columns + ") FROM STDIN WITH (FREEZE)", [&] {
          KeepTest();
          piece = ReadUpTo(fd, kPieceBytes, path);
          sum.Add(piece);
          return std::string_view(piece);
        });
    if (sum.Finish() != table.sum) {
      Refuse(
          path +
          " has another checksum than the manifest: it was changed since the export. Nothing was "
          "loaded: copy the export again, or export again");
    }
    if (rows == table.rows) return;
    Refuse(path + " has " + std::to_string(rows) + " rows, and the manifest says " +
           std::to_string(table.rows) + ". Nothing was loaded: export again");
  }

  void Run(const std::string& sql) {
    connection_.RunScript(sql, [this] { KeepTest(); });
  }

  // The server ends a session of an owner that is silent, and with it the lock.
  void KeepTest() {
    if (clock_.MonotonicMs() - asked_ms_ < kAskEveryMs) return;
    asked_ms_ = clock_.MonotonicMs();
    test_.connection().Execute("SELECT 1");
  }

  const Loading& loading_;
  const Clock& clock_;
  metrics::Registry metrics_;
  Heartbeats heartbeats_;
  Heartbeat heartbeat_;
  Upkeep live_;
  Upkeep test_;
  Connection& connection_;
  int64_t asked_ms_ = 0;
};

}  // namespace

Loaded LoadTables(const Loading& loading, const Clock& clock) { return Load(loading, clock).Run(); }

}  // namespace comanda::db
