#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/embedded.h"
#include "app/storage.h"
#include "app/environment.h"
#include "backups/entries.h"
#include "backups/place.h"
#include "backups/rotating.h"
#include "backups/sealed.h"
#include "backups/sums.h"
#include "backups/unfinished_backup.h"
#include "base/counted.h"
#include "base/problem.h"
#include "base/problem_text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/passphrase.h"
#include "commands/repair.h"
#include "commands/terminal.h"
#include "integrity/file_verification.h"
#include "json/writer.h"

namespace comanda::commands {
namespace {

constexpr Flag kRepairFlag = {"repair", "", "rebuild damaged indexes; the server must be stopped"};

constexpr std::array kFlags = {
    kRepairFlag, kDataFlag, kPassphraseFlag, kJsonFlag, kHelpFlag,
};

struct Verified {
  std::string name;  // "live.db", or that of the checksums
  integrity::Verification::Report report;
  std::vector<std::string> notes = {};  // on this machine, not on the file: time zones without data
  bool is_of_backup = false;
};

// A backup is not served and not repaired.
std::vector<std::string> AdviceFor(const Verified& one) {
  if (one.report.damage.empty() || !one.is_of_backup) {
    return integrity::AdviceFor(one.report.damage);
  }
  return integrity::AdviceFor({{.kind = integrity::Kind::kChecksum, .where = "", .what = ""}});
}

std::string Text(const std::vector<Verified>& all) {
  std::string text;
  for (const Verified& one : all) {
    const auto& [name, report, notes, is_of_backup] = one;
    text += name + "  ";
    if (name != backups::kSumsFile) {
      text += Counted(report.orders, "order, ", "orders, ") +
              Counted(report.events, "event: ", "events: ");
    }
    text += report.damage.empty() ? "sound\n" : std::to_string(report.damage.size()) + " damaged\n";
    for (const integrity::Finding& damage : report.damage) text += "  " + damage.what + "\n";
    for (const std::string& advice : AdviceFor(one)) text += "  " + advice + "\n";
    for (const std::string& note : notes) text += "  note: " + note + "\n";
  }
  return text;
}

std::string Json(const std::vector<Verified>& all, bool is_sound) {
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("sound").Boolean(is_sound).Key("databases").BeginArray();
  for (const auto& [name, report, notes, is_of_backup] : all) {
    out.BeginObject().Key("name").Text(name);
    out.Key("orders").Integer(report.orders).Key("events").Integer(report.events);
    out.Key("damage").BeginArray();
    for (const integrity::Finding& damage : report.damage) out.Text(damage.what);
    out.EndArray().Key("notes").BeginArray();
    for (const std::string& note : notes) out.Text(note);
    out.EndArray().EndObject();
  }
  out.EndArray().EndObject();
  return text + "\n";
}

// True where it was repaired, and is in `all`. What is refused is said, and stays as it is.
bool TryRepair(const Repair& repair, auth::Mode mode, const std::string& path,
               std::vector<Verified>& all) {
  try {
    const auto done = repair.TryDatabase(mode);
    if (!done) return false;
    PrintError(path +
               " was repaired: its indexes were rebuilt, and no row is missing. The former " +
               "file is " + done->former + ": delete it when the server has run for a day");
    all.push_back({std::string(Name(mode)) + ".db", done->report,
                   integrity::ZoneTroubles(path, integrity::FileState::kInUse, SystemClock())});
    return true;
  } catch (const Refusal& refusal) {
    PrintError(InWords(refusal) +
               (mode == auth::Mode::kLive
                    ? "; restore a backup (comanda restore BACKUP)"
                    : "; delete " + path + "*, and the server makes a new sandbox"));
    return false;
  }
}

// `repair` null: nothing is changed.
void VerifyDatabases(const std::string& directory, integrity::FileState state, const Repair* repair,
                     std::vector<Verified>& all) {
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const std::string name = std::string(Name(mode)) + ".db";
    const std::string path = directory + "/" + name;
    const bool is_optional = mode == auth::Mode::kTest;
    const bool is_missing = state == integrity::FileState::kFrozen
                                ? backups::KindOf(path) != backups::Kind::kFile
                                : ::access(path.c_str(), F_OK) != 0;
    if (is_optional && is_missing) continue;
    if (repair && TryRepair(*repair, mode, path, all)) continue;
    if (state == integrity::FileState::kFrozen && ::access((path + "-wal").c_str(), F_OK) == 0) {
      all.push_back({name,
                     {.damage = {{.kind = integrity::Kind::kChecksum,
                                  .where = name,
                                  .what = "it was opened as a database in use, or copied from one: "
                                          "what is in " +
                                          name + "-wal is not looked at"}}}});
      continue;
    }
    std::vector<std::string> zones = integrity::ZoneTroubles(path, state, SystemClock());
    // A sandbox without an address (app/sandbox.h) is upgraded when it gets one.
    if (is_optional &&
        integrity::IsOfAnOlderVersion(path, state, app::SchemaKnown(), SystemClock())) {
      PrintError(name +
                 " is of an older version, which its next use upgrades: its pages and indexes "
                 "alone are checked");
      all.push_back({name, integrity::VerifyPages(path, state, SystemClock()), std::move(zones)});
      continue;
    }
    all.push_back({name, integrity::VerifyDatabase(path, state, app::SchemaKnown(), SystemClock()),
                   std::move(zones)});
  }
}

void VerifyBackup(const std::string& backup, std::vector<Verified>& all) {
  struct stat found = {};
  if (::stat(backup.c_str(), &found) == 0 && !S_ISDIR(found.st_mode)) {
    throw Refusal(Problem::kValidationFailed,
                  backup +
                      " is no backup: neither a directory nor a sealed file, or the first bytes of "
                      "one were changed");
  }
  const std::string live = backup + "/live.db";
  RequireDatabase(live);
  if (backups::KindOf(live) != backups::Kind::kFile) {
    throw Refusal(Problem::kValidationFailed,
                  live + " is no file but " + backups::NameOfKind(live) +
                      ": this is no backup, or it was changed; take another one");
  }
  integrity::Findings sums;
  integrity::Add(integrity::Kind::kChecksum, backups::kSumsFile, backups::CheckSums(backup), sums);
  all.push_back({backups::kSumsFile, {.damage = std::move(sums)}});
  VerifyDatabases(backup, integrity::FileState::kFrozen, nullptr, all);
  for (Verified& one : all) one.is_of_backup = true;
}

void VerifySealed(const std::string& file, const config::Options& options,
                  const Arguments& arguments, std::vector<Verified>& all) {
  const std::string passphrase = PassphraseFor(file, options, arguments);
  const std::string scratch = backups::ScratchDirectory(options.data_directory);
  const bool is_data = scratch == options.data_directory;
  backups::RemoveUnfinishedBackups(is_data ? options.data_directory : "", scratch);
  struct stat found = {};
  if (::stat(file.c_str(), &found) == 0) {
    backups::RequireRoom(scratch, found.st_size, app::SpaceOf(options));
  }
  const backups::UnfinishedBackup unsealed(scratch + "/unsealed-backup",
                                           is_data ? options.data_directory : "");
  backups::UnsealInto(file, unsealed.path(), passphrase);
  VerifyBackup(unsealed.path(), all);
}

}  // namespace

int Verify(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, VerifyHelp());
  if (!arguments) return kExitDone;
  if (arguments->positional().size() > 1) {
    throw Refusal(Problem::kInvalidParameter, "verify takes one BACKUP, or none");
  }
  const config::Options options = ReadControlOptions(*arguments);
  std::vector<Verified> all;
  if (arguments->Has("repair")) {
    if (!arguments->positional().empty()) {
      throw Refusal(Problem::kInvalidParameter,
                    "--repair is for the data directory; a damaged backup stays as it is");
    }
    RequireDatabase(app::DatabasePath(auth::Mode::kLive, options));
    const Repair repair(options);
    VerifyDatabases(options.data_directory, integrity::FileState::kInUse, &repair, all);
  } else if (arguments->positional().empty()) {
    VerifyDatabases(options.data_directory, integrity::FileState::kInUse, nullptr, all);
  } else if (const std::string& backup = arguments->positional().front();
             backups::IsSealed(backup)) {
    VerifySealed(backup, options, *arguments, all);
  } else {
    VerifyBackup(backup, all);
  }
  const bool is_sound =
      std::ranges::all_of(all, [](const Verified& one) { return one.report.damage.empty(); });
  Print(arguments->Has("json") ? Json(all, is_sound) : Text(all));
  return is_sound ? kExitDone : kExitRefused;
}

}  // namespace comanda::commands
