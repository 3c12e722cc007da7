#include "db/postgresql/migrate.h"

#include <string>
#include <vector>

#include "base/log.h"
#include "base/problem.h"
#include "db/postgresql/catalogue.h"
#include "db/postgresql/dialect.h"
#include "db/postgresql/owner.h"
#include "db/postgresql/published.h"

namespace comanda::db {
namespace {

void Apply(Connection& connection, const Migration& migration, const std::function<void()>& beat) {
  try {
    for (const std::string& statement : ForPostgresql(migration.sql)) {
      connection.RunScript(statement, beat);
    }
  } catch (const Fault& fault) {
    throw Fault(fault.kind, "migration " + std::to_string(migration.number) + " (" +
                                std::string(migration.name) + "): " + fault.cause);
  }
}

std::vector<CatalogueRow> ReadCatalogue(Connection& connection) {
  Statement& statement = connection.Take(kReadCatalogue);
  std::vector<CatalogueRow> rows;
  try {
    connection.Bind(statement, nullptr, 0, Copies::kCopied);
    while (connection.Step(statement)) {
      rows.push_back({.kind = std::string(statement.View(0)),
                      .of_table = std::string(statement.View(1)),
                      .name = std::string(statement.View(2)),
                      .definition = std::string(statement.View(3)),
                      .detail = std::string(statement.View(4))});
    }
  } catch (...) {
    connection.Give(statement);
    throw;
  }
  connection.Give(statement);
  return rows;
}

// True if there were any.
bool Upgrade(Connection& connection, const Settings& settings, Heartbeat& heartbeat) {
  const int64_t found = connection.Integer("SELECT version FROM schema_version");
  const int64_t known = settings.migrations.back().number;
  if (found > known) {
    throw Fault(Fault::Kind::kInternal, "the database has schema version " + std::to_string(found) +
                                            ", this program knows versions up to " +
                                            std::to_string(known) +
                                            ": it was used by a newer program, install that one");
  }
  if (found == known) return false;
  const bool is_new = found == 0;
  if (!is_new) {
    log::Notice("upgrading the database, a large one takes minutes",
                {{"database", settings.SchemaName()}, {"from", found}, {"to", known}});
  }
  std::string step;
  const auto beat = [&] {
    heartbeat.Beat();
    if (settings.upgrading) settings.upgrading(step);
  };
  connection.BeginWriting();
  try {
    connection.Execute("SET LOCAL statement_timeout = 0");
    if (settings.published) DetachViews(connection, *settings.published);
    for (const Migration& migration : settings.migrations) {
      if (migration.number <= found) continue;
      step = migration.name;
      beat();
      Apply(connection, migration, beat);
    }
    if (settings.published) AttachViews(connection, *settings.published);
    connection.Execute("UPDATE schema_version SET version = " + std::to_string(known));
    if (!connection.Commit()) throw connection.failure();
  } catch (const Fault& fault) {
    connection.Rollback();
    throw Fault(fault.kind, "the upgrade of the database failed, it is as it was: " + fault.cause);
  }
  // Plans made before this are for tables without rows.
  connection.RunScript("ANALYZE", beat);
  log::Notice(is_new ? "database made" : "database upgraded",
              {{"database", settings.SchemaName()}, {"version", known}});
  return true;
}

}  // namespace

bool Migrate(Connection& connection, const Settings& settings, Heartbeat& heartbeat) {
  const bool was_upgraded = Upgrade(connection, settings, heartbeat);
  if (settings.published) Publish(connection, *settings.published);
  return was_upgraded;
}

void RequireCatalogue(Connection& connection, const Settings& settings) {
  const std::vector<CatalogueRow> found = ReadCatalogue(connection);
  std::vector<CatalogueRow> wanted;
  connection.BeginWriting();
  try {
    connection.Execute("CREATE SCHEMA comanda_wanted");
    connection.Execute("SET LOCAL search_path = comanda_wanted");
    CreateOwnTables(connection);
    for (const Migration& migration : settings.migrations) Apply(connection, migration, {});
    if (settings.published) MakeIndexes(connection, *settings.published);
    wanted = ReadCatalogue(connection);
  } catch (...) {
    connection.Rollback();
    throw;
  }
  connection.Rollback();
  std::string forbidden;
  for (const Difference& difference : Differences(found, wanted)) {
    if (difference.forbids_serving) {
      forbidden += (forbidden.empty() ? "" : "; ") + difference.sentence;
      continue;
    }
    log::Warning("the schema of the database was changed by hand",
                 {{"database", settings.SchemaName()}, {"difference", difference.sentence}});
  }
  if (!forbidden.empty()) {
    throw Fault(
        Fault::Kind::kInternal,
        "the schema of the database was changed by hand, and cannot be served: " + forbidden);
  }
}

}  // namespace comanda::db
