#pragma once

// What the server of a database says of itself and of its standbys: for /readyz, the log and
// `comanda-head status`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/health.h"
#include "db/settings.h"

namespace comanda::db {

class Connection;

// A row of pg_stat_replication.
struct Standby {
  std::string name;        // its application_name; of Patroni: the node
  std::string address;     // empty: a socket of the same machine
  std::string state;       // "streaming", "catchup", …
  std::string sync_state;  // "sync", "quorum", "potential" or "async"
  // Behind in replaying, as it said last; nothing: it said nothing yet.
  std::optional<int64_t> lag_ms;
  // Whether commits wait for it: always ("sync"), or for as many of the standbys of that state as
  // synchronous_standby_names says ("quorum").
  bool is_in_sync() const { return sync_state == "sync" || sync_state == "quorum"; }
};

// Nothing where the user may not see them: it lacks the role pg_monitor.
std::optional<std::vector<Standby>> FindStandbys(Connection& connection);
// The same in numbers.
std::optional<StandbyCounts> CountStandbys(Connection& connection);

// One of the two databases.
struct Served {
  std::optional<std::string> host;  // of the process that serves it; nothing: none does
  int64_t term = 0;
  int64_t commits = 0;
};

struct Status {
  std::string server;   // HOST:PORT
  std::string version;  // "15.5"
  std::optional<std::vector<Standby>> standbys;
  int64_t connections = 0;      // of all users of the server
  int64_t own_connections = 0;  // of this program's processes, to this database
  int64_t connections_max = 0;
  std::optional<Served> live, sandbox;  // nothing: it was never served
};

// Connects to the server that takes writes. Fault kUnavailable with what each host said where there
// is none. `live` and `sandbox` name the two databases of one server.
Status ReadStatus(const Settings& live, const Settings& sandbox, const Clock& clock);

}  // namespace comanda::db
