#include "app/storage.h"

#include <algorithm>
#include <cstdlib>

#include "app/served.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/time/clock.h"
#include "db/postgresql/owner.h"
#include "office/views.h"

namespace comanda::app {
namespace {

// Where systemd has put the password (LoadCredential=database-password:…), unless a setting names
// a file.
std::string PasswordFile(const config::Options& options) {
  if (!options.database_password_file.empty()) return options.database_password_file;
  const char* const directory = std::getenv("CREDENTIALS_DIRECTORY");
  if (!directory) return "";
  const std::string path = std::string(directory) + "/database-password";
  return IsThere(path) ? path : "";
}

Served ServedNow(db::Database& database) {
  return {.file = database.Identity(), .changes = database.owner().commits};
}

}  // namespace

// The data are on the servers of the database, which refuse what they have no space for. What is
// here are settings and certificates.
db::SpaceSettings SpaceOf(const config::Options& options) {
  return {.directory = options.data_directory,
          .low_bytes = 0,
          .tight_bytes = 0,
          .orders_only_bytes = 0,
          .ballast_bytes = 0};
}

db::Settings StorageSettings(auth::Mode mode, const config::Options& options) {
  if (options.database.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the setting database is empty: name the server, as in `database = "
                  "host=/run/postgresql dbname=comanda user=comanda`");
  }
  if (mode == auth::Mode::kLive && options.tls_certificate.empty()) {
    RefuseLostAuthority(options.data_directory);
  }
  const std::string directory = options.data_directory;
  const std::string file = DatabaseName(mode);
  return {.path = DatabasePath(mode, options),
          .database = options.database,
          .password_file = PasswordFile(options),
          .note_went_back =
              [directory, file](int64_t commits) {
                std::optional<Served> served = FindServed(directory, file);
                if (!served) return;
                served->changes = commits;
                app::NoteServed(directory, file, *served);
              },
          .published = mode == auth::Mode::kLive ? &office::Views() : nullptr};
}

bool DatabaseIsThere(auth::Mode mode, const config::Options& options) {
  try {
    return db::HasOwnTables(StorageSettings(mode, options), SystemClock());
  } catch (const Fault&) {
    return true;
  }
}

// A machine that has never served it, or not for a while, knows less than the database: that is a
// take-over. Another database under the same setting is as one that was restored.
bool WentBack(db::Database& database, auth::Mode mode, const config::Options& options, bool) {
  if (database.WentBack()) return true;
  const Served now = ServedNow(database);
  const auto noted = FindServed(options.data_directory, DatabaseName(mode));
  return noted && (noted->file != now.file || now.changes < noted->changes);
}

std::string MachineOf(db::Database& database) { return database.Identity(); }

void NoteTakenUp(db::Tx& tx) { db::NoteTimeline(tx); }

void NoteServed(db::Database& database, auth::Mode mode, const config::Options& options) {
  NoteServed(options.data_directory, DatabaseName(mode), ServedNow(database));
}

void NoteServedNowAndThen(db::Database& database, auth::Mode mode, const config::Options& options) {
  NoteServed(database, mode, options);
}

Copies::Copies(const config::Options& options, metrics::Registry&) : options_(options) {}

void Copies::AddReadiness(db::Database& live, std::vector<http::Readiness>& checks, UtcMs) const {
  const auto found = std::ranges::find(checks, "database", &http::Readiness::name);
  if (found == checks.end() || !found->ok) return;
  const db::OwnerNote owner = live.owner();
  found->state += ", " + owner.server + ", term " + std::to_string(owner.term);
  if (!owner.standbys) return;
  found->state += ", " + Counted(owner.standbys->all, "standby, ", "standbys, ") +
                  std::to_string(owner.standbys->in_sync) + " in sync";
  if (owner.standbys->all > 0) {
    found->state += ", " + std::to_string(owner.standbys->lag_ms) + " ms behind";
  }
}

void Copies::LookAtLeftovers(bool) const {}

void Copies::DeleteFromBeforeUpgrade(auth::Mode) const {}

}  // namespace comanda::app
