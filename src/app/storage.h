#pragma once

// What an environment and the server around it do for the data beside serving them, which depends
// on the engine: app/sqlite/storage.cc for the files of a box, app/postgresql/storage.cc for a head
// office, whose database has copies and a history of its own. One of the two is linked.

#include <optional>
#include <string>
#include <vector>

#include "app/listeners.h"
#include "app/process.h"
#include "auth/key_table.h"
#include "base/metrics.h"
#include "base/time/clock.h"
#include "config/options.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "db/settings.h"
#include "http/site.h"

namespace comanda::app {

// The thresholds of free disk space that the settings name.
db::SpaceSettings SpaceOf(const config::Options& options);

// "live.db" or "test.db": the name of the database in the log and in DIR/served, with either
// engine.
inline std::string DatabaseName(auth::Mode mode) { return std::string(Name(mode)) + ".db"; }
// DIR/live.db or DIR/test.db
inline std::string DatabasePath(auth::Mode mode, const config::Options& options) {
  return options.data_directory + "/" + DatabaseName(mode);
}

// Whether there is such a database. Of a server: whether it has this program's tables; true also
// where it cannot be asked, since what opens it then says why.
bool DatabaseIsThere(auth::Mode mode, const config::Options& options);

// Of the database of an environment, without what only the environment knows. Fault kDamaged where
// the directory was in use and its database, or the authority that devices trust, is lost.
db::Settings StorageSettings(auth::Mode mode, const config::Options& options);

// Whether the database went back behind what this program has served from it: a restored backup, a
// copy that was put in its place by hand, a database server that lost its last commits.
// `was_upgraded`: by this start.
bool WentBack(db::Database& database, auth::Mode mode, const config::Options& options,
              bool was_upgraded);
// Which machine has the data, for machine::Judge(): data that another machine has served send
// nothing until somebody says so. This machine, or the servers of the database, which stay the same
// whichever machine takes over.
std::string MachineOf(db::Database& database);
// To be written with what follows from WentBack(), so that the next start does not find it again.
void NoteTakenUp(db::Tx& tx);
// Notes in the data directory what is served, for WentBack(). Fault where it cannot be written.
void NoteServed(db::Database& database, auth::Mode mode, const config::Options& options);
// The same now and then while it is served, where only the number says that it went back.
void NoteServedNowAndThen(db::Database& database, auth::Mode mode, const config::Options& options);

// Returns when no other process serves the database; serves /healthz, /readyz and /metrics as the
// standby meanwhile. Of an engine whose database several processes can reach.
struct Awaited {
  std::optional<db::OwnerNote> note = {};  // what was seen last of the other one
  bool is_stopped = false;                 // by SIGTERM or SIGINT: there is nothing to serve
};
Awaited AwaitDatabase(const config::Options& options, Listeners& listeners);

// The copies of the data. Methods may be called by any thread.
class Copies {
 public:
  // Both outlive it.
  Copies(const config::Options& options, metrics::Registry& metrics);

  // Appends what is wrong with them to the checks of /readyz.
  void AddReadiness(db::Database& live, std::vector<http::Readiness>& checks, UtcMs now) const;
  // Logs what a backup, a drill or a restore has left that was interrupted, and removes it unless
  // the disk is read-only.
  void LookAtLeftovers(bool is_read_only) const;
  // Deletes the copy that was made before the last upgrade.
  void DeleteFromBeforeUpgrade(auth::Mode mode) const;

 private:
  const config::Options& options_;
  std::optional<metrics::Gauge> last_good_gauge_;  // of a program that makes backups itself
};

}  // namespace comanda::app
