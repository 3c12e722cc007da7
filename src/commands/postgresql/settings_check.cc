#include "commands/settings_check.h"

#include "app/storage.h"
#include "base/time/clock.h"
#include "db/watcher.h"

namespace comanda::commands {

void JudgeFiles(const config::Options&, const std::vector<config::Change>&) {}

// That it can be reached, with the rights of the user.
void CheckDatabases(const config::Options& options) {
  db::Watcher(app::StorageSettings(auth::Mode::kLive, options), SystemClock());
}

}  // namespace comanda::commands
