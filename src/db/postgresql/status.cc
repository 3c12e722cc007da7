#include "db/postgresql/status.h"

#include <algorithm>

#include "db/postgresql/owner.h"
#include "engine/connection.h"

namespace comanda::db {
namespace {

// Of one that has replayed all there is, the server forgets the lag after a while.
constexpr Sql kStandbys = R"sql(
    SELECT CAST(application_name AS text), coalesce(host(client_addr), ''), coalesce(state, ''),
      coalesce(sync_state, ''),
      CASE WHEN replay_lag IS NOT NULL THEN CAST(extract(epoch FROM replay_lag) * 1000 AS bigint)
        WHEN replay_lsn >= sent_lsn THEN 0 END
    FROM pg_stat_replication ORDER BY application_name
    )sql";

std::optional<Served> FindServed(Connection& connection, const Settings& settings) {
  const std::string owner = settings.SchemaName() + ".owner";
  if (connection.Text("SELECT to_regclass('" + owner + "')").empty()) return std::nullopt;
  const std::string row = " FROM " + owner;
  Served served;
  served.term = connection.Integer("SELECT term" + row);
  served.commits = connection.Integer("SELECT commits" + row);
  if (IsLocked(connection, settings)) served.host = connection.Text("SELECT host" + row);
  return served;
}

}  // namespace

std::optional<std::vector<Standby>> FindStandbys(Connection& connection) {
  if (connection.Text("SELECT pg_has_role('pg_monitor', 'USAGE')") != "t") return std::nullopt;
  std::vector<Standby> standbys;
  Statement& statement = connection.Take(kStandbys);
  try {
    connection.Bind(statement, nullptr, 0, Copies::kCopied);
    while (connection.Step(statement)) {
      Standby standby{.name = std::string(statement.View(0)),
                      .address = std::string(statement.View(1)),
                      .state = std::string(statement.View(2)),
                      .sync_state = std::string(statement.View(3)),
                      .lag_ms = {}};
      if (!statement.IsNull(4)) standby.lag_ms = statement.Int(4);
      standbys.push_back(std::move(standby));
    }
  } catch (...) {
    connection.Give(statement);
    throw;
  }
  connection.Give(statement);
  return standbys;
}

std::optional<StandbyCounts> CountStandbys(Connection& connection) {
  const std::optional<std::vector<Standby>> standbys = FindStandbys(connection);
  if (!standbys) return std::nullopt;
  StandbyCounts counts;
  for (const Standby& standby : *standbys) {
    ++counts.all;
    if (standby.is_in_sync()) ++counts.in_sync;
    counts.lag_ms = std::max(counts.lag_ms, standby.lag_ms.value_or(0));
  }
  return counts;
}

Status ReadStatus(const Settings& live, const Settings& sandbox, const Clock& clock) {
  Connection connection(live, Connection::Role::kReader, clock);
  const std::string activity =
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
  return {.server = connection.host(),
          .version = connection.Text("SELECT current_setting('server_version')"),
          .standbys = FindStandbys(connection),
          .connections = connection.Integer(activity),
          .own_connections = connection.Integer(
              activity + " AND usename = current_user AND datname = current_database() AND "
                         "pid <> pg_backend_pid()"),
          .connections_max = connection.Integer("SELECT current_setting('max_connections')"),
          .live = FindServed(connection, live),
          .sandbox = FindServed(connection, sandbox)};
}

}  // namespace comanda::db
