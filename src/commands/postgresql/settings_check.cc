#include "commands/settings_check.h"

#include "app/storage.h"
#include "base/time/clock.h"
#include "commands/terminal.h"
#include "company/zones.h"
#include "db/watcher.h"

namespace comanda::commands {

void JudgeFiles(const config::Options&, const std::vector<config::Change>&) {}

// That it can be reached, and what of it an upgrade is not refused for.
void CheckDatabases(const config::Options& options) {
  db::Watcher watcher(app::StorageSettings(auth::Mode::kLive, options), SystemClock());
  if (!app::DatabaseIsThere(auth::Mode::kLive, options)) return;  // made at the start
  for (const std::string& trouble : watcher.Read(
           [](db::Snapshot& snapshot) { return company::ZoneTroubles(snapshot); })) {
    Print("warning: " + trouble + "\n");
  }
}

}  // namespace comanda::commands
