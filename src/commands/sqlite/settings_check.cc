#include "commands/settings_check.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "app/embedded.h"
#include "app/file_findings.h"
#include "app/storage.h"
#include "base/problem.h"
#include "base/time/clock.h"
#include "commands/terminal.h"
#include "db/sqlite/file_watcher.h"
#include "db/sqlite/migrate.h"
#include "integrity/file_verification.h"

namespace comanda::commands {

void JudgeFiles(const config::Options& options, const std::vector<config::Change>& changes) {
  const doctor::Findings findings = app::FindFileTroubles(options);
  for (const doctor::Finding& finding : findings) {
    const bool is_changed = std::ranges::any_of(
        changes, [&](const config::Change& change) { return change.name == finding.check; });
    if (is_changed || finding.state == doctor::State::kBroken) throw app::AsRefusal(finding);
  }
  for (const doctor::Finding& finding : findings) PrintError(Describe(app::AsRefusal(finding)));
}

void CheckDatabases(const config::Options& options) {
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const std::string path = app::DatabasePath(mode, options);
    if (::access(path.c_str(), F_OK) != 0) continue;
    db::FileWatcher watcher(path, SystemClock());
    const int64_t found = watcher.SchemaVersion();
    const int64_t known = app::SchemaKnown();
    if (found > known) {
      throw Refusal(Problem::kValidationFailed, db::OfNewerProgram(path, found, known));
    }
    // Orders go on without the data: no reason to refuse an upgrade.
    for (const std::string& trouble :
         integrity::ZoneTroubles(path, integrity::FileState::kInUse, SystemClock())) {
      Print("warning: " + trouble + "\n");
    }
  }
}

}  // namespace comanda::commands
