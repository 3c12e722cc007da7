#include "app/storage.h"

#include <cerrno>
#include <limits>
#include <optional>

#include "app/served.h"
#include "backups/restore.h"
#include "backups/results.h"
#include "backups/unfinished_backup.h"
#include "base/file.h"
#include "base/log.h"
#include "db/sqlite/backup.h"
#include "db/upgrade_copies.h"
#include "events/log.h"
#include "integrity/repair.h"
#include "machine/machine_id.h"

namespace comanda::app {
namespace {

Served ServedNow(db::Database& database) {
  return {.file = database.Identity(), .changes = database.Read([](db::Snapshot& snapshot) {
            return events::TotalOfChanges(snapshot);
          })};
}

}  // namespace

db::SpaceSettings SpaceOf(const config::Options& options) {
  constexpr int64_t kMebibyte = 1024 * 1024;
  return {.directory = options.data_directory,
          .low_bytes = options.disk_low_mib * kMebibyte,
          .tight_bytes = options.disk_tight_mib * kMebibyte,
          .orders_only_bytes = options.disk_orders_only_mib * kMebibyte,
          .ballast_bytes = options.disk_ballast_mib * kMebibyte};
}

bool DatabaseIsThere(auth::Mode mode, const config::Options& options) {
  return IsThere(DatabasePath(mode, options)) || errno != ENOENT;
}

db::Settings StorageSettings(auth::Mode mode, const config::Options& options) {
  if (mode == auth::Mode::kLive) {
    RefuseLostDatabase(options.data_directory);
    if (options.tls_certificate.empty()) RefuseLostAuthority(options.data_directory);
  }
  return {.path = DatabasePath(mode, options)};
}

// True if the file is a backup, or is not the file that DIR/served describes (app/served.h). A
// database that was upgraded by this start may come from a program that did not write DIR/served.
bool WentBack(db::Database& database, auth::Mode mode, const config::Options& options,
              bool was_upgraded) {
  if (database.Read([](db::Snapshot& snapshot) { return db::IsBackup(snapshot); })) return true;
  const Served now = ServedNow(database);
  const auto is_as_served = IsAsServed(options.data_directory, DatabaseName(mode), now);
  return is_as_served ? !*is_as_served : now.changes > 0 && !was_upgraded;
}

std::string MachineOf(db::Database&) { return machine::MachineId(); }

void NoteTakenUp(db::Tx& tx) { db::TakeUp(tx); }

void NoteServed(db::Database& database, auth::Mode mode, const config::Options& options) {
  NoteServed(options.data_directory, DatabaseName(mode), ServedNow(database));
}

void NoteServedNowAndThen(db::Database&, auth::Mode, const config::Options&) {}

Awaited AwaitDatabase(const config::Options&, Listeners&) { return {}; }

Copies::Copies(const config::Options& options, metrics::Registry& metrics)
    : options_(options),
      last_good_gauge_(
          std::in_place, metrics, "comanda_backup_last_good_timestamp_seconds",
          "The time of the last good rotating backup, in seconds since 1970; of several "
          "directories the oldest, 0 where one has none.",
          [&options] {
            return static_cast<double>(backups::OldestGood(options.data_directory)) / 1000;
          }) {}

void Copies::AddReadiness(db::Database&, std::vector<http::Readiness>& checks, UtcMs now) const {
  const std::string backup = backups::Trouble(backups::Results(options_.data_directory), now);
  if (!backup.empty()) checks.push_back({.name = "backup", .ok = true, .state = backup});
}

void Copies::LookAtLeftovers(bool is_read_only) const {
  if (!is_read_only) {
    for (const std::string& left : backups::RemoveUnfinishedBackups(options_.data_directory)) {
      log::Notice("removed what an interrupted backup or drill left", {{"directory", left}});
    }
    for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
      integrity::RemoveUnfinishedRepair(DatabasePath(mode, options_));
    }
  }
  for (const std::string& left : backups::DescribeRestores(options_.data_directory)) {
    log::Notice("an interrupted restore", {{"state", left}});
  }
}

void Copies::DeleteFromBeforeUpgrade(auth::Mode mode) const {
  db::DeleteUpgradeCopies(options_.data_directory, DatabaseName(mode),
                          std::numeric_limits<UtcMs>::max());
}

}  // namespace comanda::app
