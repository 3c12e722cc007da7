#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "app/embedded.h"
#include "app/environment.h"
#include "app/served.h"
#include "app/storage.h"
#include "base/file.h"
#include "base/problem.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "crypto/secret_stream.h"
#include "db/lock.h"
#include "db/postgresql/table_load.h"
#include "events/log.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    Flag{"data", "DIR", "the data directory (default /var/lib/comanda-head)"},
    kHelpFlag,
};

void RequireSameSchema(const db::Manifest& manifest) {
  const int64_t known = app::SchemaKnown();
  if (manifest.schema == known) return;
  throw Refusal(Problem::kValidationFailed,
                "the export is of schema version " + std::to_string(manifest.schema) +
                    " (comanda " + manifest.version + "), and this program has " +
                    std::to_string(known) +
                    (manifest.schema < known
                         ? ": install the newest `comanda` where it was made, start it once, which "
                           "upgrades the data, and export again"
                         : ": install the newest comanda-head here"));
}

// The files of data/ as they were exported: their content by path. Refusal for one that is not.
std::map<std::string, std::string> ReadFiles(const std::string& directory,
                                             const db::Manifest& manifest) {
  std::map<std::string, std::string> contents;
  for (const auto& [name, sum] : manifest.files) {
    const std::string path = directory + "/data/" + name;
    std::optional<std::string> content = ReadFile(path);
    crypto::Blake2b hash;
    hash.Add(content.value_or(""));
    if (!content || hash.Finish() != sum) {
      throw Refusal(Problem::kValidationFailed,
                    path + (content ? " was changed" : " was lost") +
                        " since the export. Nothing was loaded: copy the export again, or export "
                        "again");
    }
    contents.emplace(name, *std::move(content));
  }
  return contents;
}

// The authority that boxes and tills trust, where there is none here yet. False where there is
// another one.
bool TakeAuthority(const std::string& data, const std::map<std::string, std::string>& files) {
  const std::string own = data + "/tls/ca.crt";
  const auto root = files.find("tls/ca.crt");
  if (root == files.end()) return true;
  if (IsThere(own)) return ReadFile(own) == root->second;
  MakeDirectories(data + "/tls", 0700);
  TakeOwnerOfDirectory(data + "/tls");
  for (const auto& [name, content] : files) {
    const std::string_view file = std::string_view(name).substr(name.rfind('/') + 1);
    if (name != "tls/" + std::string(file) || name == root->first) continue;
    ReplaceFile(data + "/" + name, content, 0600);
  }
  ReplaceFile(own, root->second, 0600);  // last: an interrupted load begins again
  return true;
}

db::Settings SettingsOf(auth::Mode mode, const config::Options& options) {
  db::Settings settings = app::StorageSettings(mode, options);
  settings.migrations = app::Migrations();
  settings.is_guest = mode == auth::Mode::kTest;
  return settings;
}

db::Loaded LoadRows(const config::Options& options, const std::string& directory,
                    const db::Manifest& manifest) {
  const db::Settings live = SettingsOf(auth::Mode::kLive, options);
  const db::Settings test = SettingsOf(auth::Mode::kTest, options);
  // What the former server has acknowledged since the export is missing here, as behind a backup.
  const auto complete = [&](db::Tx& tx) {
    if (!manifest.was_serving) return;
    app::RaiseEpochs(tx, {.now = std::max(SystemClock().Now(), events::LastTime(tx))});
  };
  const auto progress = [](const std::string& line) {
    Print(line + "\n");
    ::fflush(stdout);
  };
  try {
    return db::LoadTables({.manifest = manifest,
                           .directory = directory,
                           .live = live,
                           .test = test,
                           .complete = complete,
                           .progress = progress},
                          SystemClock());
  } catch (const db::OwnedByAnother& owned) {
    throw Refusal(Problem::kValidationFailed,
                  owned.cause + ": stop it there first (systemctl stop comanda-head)");
  }
}

void SayWhatIsNext(const std::string& directory, const db::Manifest& manifest, bool has_authority,
                   const config::Options& options) {
  std::string text;
  if (manifest.was_serving) {
    text +=
        "The former server was running when this was exported: clients are told to read everything "
        "again, and what it took afterwards comes from linked boxes alone.\n";
  }
  text += "Next:\n  systemctl start comanda-head\n";
  if (!has_authority) {
    text += "  " + options.data_directory +
            "/tls has another authority than the former server: clients that trust that one need " +
            directory + "/data/tls in its place, before the start\n";
  }
  if (manifest.files.contains("comanda.conf")) {
    text += "  look which settings of " + directory + "/data/comanda.conf are needed here\n";
  }
  text +=
      "  with the former server off for good, `comanda-head resume` sends what waits for webhooks\n"
      "  delete " +
      directory + ": it has all keys\n";
  Print(text);
}

}  // namespace

int Load(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, LoadHelp());
  if (!arguments) return kExitDone;
  if (arguments->positional().size() != 1) {
    throw Refusal(Problem::kInvalidParameter,
                  "name the directory that `comanda export --postgresql DIR` has made");
  }
  const std::string directory = WithoutSlash(arguments->positional().front());
  const config::Options options = ReadControlOptions(*arguments);
  MakeDirectories(options.data_directory, 0700);
  const auto lock = db::DirectoryLock::TryAcquire(options.data_directory);
  if (!lock) {
    throw Refusal(Problem::kValidationFailed, "a server works in " + options.data_directory +
                                                  ": stop it first (systemctl stop comanda-head)");
  }
  const db::Manifest manifest = db::ReadManifest(directory);
  RequireSameSchema(manifest);
  const std::map<std::string, std::string> files = ReadFiles(directory, manifest);
  const bool has_authority = TakeAuthority(options.data_directory, files);
  const db::Loaded loaded = LoadRows(options, directory, manifest);
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const db::LoadedSchema& schema = mode == auth::Mode::kLive ? loaded.live : loaded.test;
    app::NoteServed(options.data_directory, app::DatabaseName(mode),
                    {.file = schema.identity, .changes = schema.commits});
  }
  Print("loaded and committed, term " + std::to_string(loaded.term) + ". ");
  SayWhatIsNext(directory, manifest, has_authority, options);
  return kExitDone;
}

}  // namespace comanda::commands
