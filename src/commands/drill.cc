#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/drill.h"
#include "app/storage.h"
#include "app/embedded.h"
#include "app/environment.h"
#include "app/trial.h"
#include "backups/catalog.h"
#include "backups/rotating.h"
#include "backups/sealed.h"
#include "backups/source.h"
#include "backups/unfinished_backup.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/problem.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/passphrase.h"
#include "commands/terminal.h"
#include "db/sqlite/migrate.h"
#include "db/lock.h"
#include "db/sqlite/file_watcher.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kPassphraseFlag,
    kHelpFlag,
};

// The newest backup, by the time in its name: numbers count in one directory alone. Refusal where
// there is none.
std::string NewestOf(const config::Options& options) {
  std::optional<backups::Backup> newest;
  std::string looked;
  for (const std::string& directory : options.backup_to) {
    looked += (looked.empty() ? "" : ", ") + directory;
    const std::vector<backups::Backup> found = backups::BackupsIn(directory);
    if (found.empty() || (newest && newest->made_at >= found.front().made_at)) continue;
    newest = found.front();
  }
  if (newest) return newest->path;
  throw Refusal(Problem::kNotFound, "there is no backup in " +
                                        (looked.empty() ? "backup_to, which is empty" : looked) +
                                        ": name one, or make one with `comanda backup`");
}

// Refusal where the copy would leave too little space for orders.
void RequireRoom(const config::Options& options, int64_t bytes) {
  if (backups::LeavesRoomForOrders(bytes, app::SpaceOf(options))) return;
  throw Fault(Fault::Kind::kDiskFull, "a drill on the disk of " + options.data_directory +
                                          " would leave too little space for orders: make space "
                                          "on it");
}

// Any damage ends the drill: it is what a restore would refuse.
void RefuseDamage(const std::vector<std::string>& damage) {
  throw Refusal(
      Problem::kValidationFailed,
      "the backup is damaged, and a restore would refuse it: " + damage.front() +
          (damage.size() > 1 ? " and " + std::to_string(damage.size() - 1) + " more" : ""));
}

app::Trial RestoreInto(const std::string& directory, const backups::Source& source) {
  if (!source.damage.empty()) RefuseDamage(source.damage);
  backups::CopyInto(source, directory, [] {});
  if (source.path != source.name) RemoveAll(source.path);  // what was unsealed
  const auto lock = db::DirectoryLock::TryAcquire(directory);
  const config::Options options = config::Load({{"data", directory}});
  return app::TryDatabase(
      auth::Mode::kLive, options,
      [](const integrity::Findings& damage) { RefuseDamage(integrity::SentencesOf(damage)); },
      [](const std::string&) {});
}

app::Comparison CompareDatabases(const std::string& backup_path, const std::string& data_path) {
  db::FileWatcher backup(backup_path, SystemClock());
  db::FileWatcher data(data_path, SystemClock());
  if (data.SchemaVersion() != app::SchemaKnown()) {
    throw Refusal(
        Problem::kValidationFailed,
        data_path + " is of another version of the program: start the server once, then repeat");
  }
  app::Comparison comparison;
  backup.Read([&](db::Snapshot& ours) {
    data.Read([&](db::Snapshot& theirs) { app::Compare(ours, theirs, comparison); });
  });
  return comparison;
}

}  // namespace

int Drill(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, DrillHelp());
  if (!arguments) return kExitDone;
  if (arguments->positional().size() > 1) {
    throw Refusal(Problem::kInvalidParameter, "drill takes one BACKUP, or none");
  }
  const config::Options options = ReadControlOptions(*arguments);
  const std::string data_path = app::DatabasePath(auth::Mode::kLive, options);
  RequireDatabase(data_path);
  const std::string backup = arguments->positional().empty()
                                 ? NewestOf(options)
                                 : WithoutSlash(arguments->positional().front());
  std::optional<backups::Source> source;
  if (!backups::IsSealed(backup)) source = backups::Inspect(backup, app::SchemaKnown());
  std::string passphrase;
  if (!source) passphrase = PassphraseFor(backup, options, *arguments);
  for (const std::string& left : backups::RemoveUnfinishedBackups(options.data_directory)) {
    PrintError("removed what an interrupted backup or drill left: " + left);
  }
  RequireRoom(options, source ? backups::BytesOf(*source) : SizeOf(backup));

  // Removed at the end: it never gets the name of a backup.
  const backups::UnfinishedBackup scratch(options.data_directory + "/drill",
                                          options.data_directory);
  if (!source) source = backups::Unsealed(backup, scratch.path(), passphrase, app::SchemaKnown());
  const app::Trial trial = RestoreInto(scratch.path(), *source);
  const app::Comparison comparison = CompareDatabases(scratch.path() + "/live.db", data_path);
  Print(backup + " can be restored: " + Counted(trial.orders, "order, until ", "orders, until ") +
        (trial.until > 0 ? FormatInstant(trial.until) : std::string("an unknown time")) + "\n\n" +
        Describe(comparison));
  for (const std::string& note : trial.notes) Print("note: " + note + "\n");
  if (comparison.IsGood()) return kExitDone;
  PrintError(
      "the backup and the data differ: either is damaged, or the data were restored since the "
      "backup was taken. `comanda verify` looks at the data");
  return kExitRefused;
}

}  // namespace comanda::commands
