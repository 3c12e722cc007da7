#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "app/embedded.h"
#include "app/storage.h"
#include "backups/copy.h"
#include "backups/medium.h"
#include "backups/place.h"
#include "backups/rotating.h"
#include "backups/sums.h"
#include "backups/unfinished_backup.h"
#include "base/concat.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/version.h"
#include "cloud/link/link.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "db/lock.h"
#include "db/sqlite/table_export.h"
#include "integrity/verification.h"

namespace comanda::commands {
namespace {

constexpr Flag kPostgresqlFlag = {"postgresql", "DIR", "the new directory, for comanda-head load"};

constexpr std::array kFlags = {
    kPostgresqlFlag,
    kDataFlag,
    kHelpFlag,
};

constexpr size_t kDamageShown = 20;

std::string ReadTarget(const Arguments& arguments, const config::Options& options) {
  const std::string target = WithoutSlash(arguments.Find(kPostgresqlFlag.name).value_or(""));
  if (target.empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  "name the directory to make: comanda export --postgresql DIR");
  }
  const auto entries = EntriesIn(target);
  if (entries ? !entries->empty() : errno != ENOENT) {
    throw Refusal(Problem::kValidationFailed,
                  target + " is no directory, or has files in it: name one that is not there");
  }
  if (backups::LiesInside(target, options.data_directory)) {
    throw Refusal(Problem::kValidationFailed,
                  target + " lies inside the data directory: name a directory elsewhere");
  }
  return target;
}

// Of the same state as the files. Damage that a checksum finds travels with its row, and is found
// there as it is here.
void Look(db::Session& session, std::vector<std::string>& damage) {
  if (cloud::FindLinked(session)) {
    throw Refusal(Problem::kValidationFailed,
                  "this box is linked to a cloud, and a head office is the cloud itself: end that "
                  "first with `comanda cloud unlink`, or link the box to the head office instead");
  }
  integrity::Verification verification;
  integrity::Verification::Part part;
  while (verification.Next(session, part)) part = {};
  for (const integrity::Finding& one : verification.report().damage) damage.push_back(one.what);
}

void ExportDatabase(auth::Mode mode, const config::Options& options, const std::string& directory,
                    db::Manifest& manifest, std::vector<std::string>& damage) {
  const std::string schema(Name(mode));
  backups::MakePrivateDirectories(directory + "/" + schema);
  const std::vector<db::ExportedTable> tables =
      db::ExportTables(app::DatabasePath(mode, options), directory, schema, app::SchemaKnown(),
                       SystemClock(), [&](db::Session& session) { Look(session, damage); });
  int64_t rows = 0;
  int64_t bytes = 0;
  for (const db::ExportedTable& table : tables) {
    rows += table.rows;
    bytes += table.bytes;
    manifest.tables.push_back(table);
  }
  Print(Concat({schema, "  ", tables.size(), " tables, ", Counted(rows, "row, ", "rows, "), bytes,
                " bytes\n"}));
}

void SayWhatIsNext(const std::string& target, bool was_serving) {
  if (was_serving) {
    PrintError(
        "the server was running: what it takes from now on is not in " + target +
        ". Good for a rehearsal; to move, stop it (systemctl disable --now comanda), and export "
        "again");
  }
  Print(target +
        " holds all data and keys; keep it secret, and delete it when it was loaded. Next, on a "
        "machine of the head office:\n"
        "  comanda-head load " +
        target + "\n");
}

}  // namespace

int Export(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, ExportHelp());
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "export");
  const config::Options options = ReadControlOptions(*arguments);
  RequireDatabase(app::DatabasePath(auth::Mode::kLive, options));
  const std::string target = ReadTarget(*arguments, options);
  backups::RemoveUnfinishedBackups(options.data_directory, DirectoryOf(target));
  // Held to the end, so that no server begins meanwhile.
  const auto lock = db::DirectoryLock::TryAcquire(options.data_directory);
  db::Manifest manifest{.version = std::string(kVersion),
                        .made_at = FormatInstant(SystemClock().Now()),
                        .schema = app::SchemaKnown(),
                        .was_serving = !lock,
                        .tables = {},
                        .files = {}};
  std::vector<std::string> damage;
  backups::UnfinishedBackup unfinished(target, options.data_directory);
  const std::string& directory = unfinished.path();
  backups::RequireRoom(directory, backups::DatabaseBytes(options), app::SpaceOf(options));
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const bool is_optional = mode == auth::Mode::kTest;
    if (is_optional && !app::DatabaseIsThere(mode, options)) continue;
    ExportDatabase(mode, options, directory, manifest, damage);
  }
  for (const std::string& remark : backups::CopySmallFiles(options, directory + "/data")) {
    PrintError(remark);
  }
  manifest.files = backups::SumsOf(directory + "/data");
  backups::WritePrivateFile(directory + "/" + db::kManifestFile, db::Text(manifest));
  unfinished.Finish();
  struct stat found = {};
  if (::stat((target + "/" + db::kManifestFile).c_str(), &found) == 0 && (found.st_mode & 077)) {
    PrintError(target + " can be read by others: the file system there keeps no modes");
  }
  for (size_t i = 0; i < std::min(damage.size(), kDamageShown); ++i) PrintError(damage[i]);
  if (!damage.empty()) {
    PrintError("the export is made, and some of what it copied is damaged as it was: " +
               std::to_string(damage.size()) + " findings, all of which `comanda verify` lists");
  }
  SayWhatIsNext(target, manifest.was_serving);
  return damage.empty() ? kExitDone : kExitRefused;
}

}  // namespace comanda::commands
