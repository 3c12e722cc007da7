#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "app/embedded.h"
#include "app/environment.h"
#include "app/file_findings.h"
#include "commands/terminal.h"
#include "base/build_date.h"
#include "base/time/clock.h"
#include "base/file.h"
#include "base/problem.h"
#include "company/zones.h"
#include "config/options.h"
#include "crypto/authorities.h"
#include "db/migrate.h"
#include "db/watcher.h"
#include "ops/certificates.h"

namespace comanda::app {
namespace {

std::string Help() {
  std::string out =
      "comanda config [--data DIR] [--SETTING VALUE …]\n"
      "comanda config set NAME VALUE [NAME VALUE …] [--data DIR]\n"
      "comanda config unset NAME … [--data DIR]\n"
      "comanda config check [--data DIR]\n\n"
      "Without a verb, shows every setting in force and where it comes from: the default, "
      "DIR/comanda.conf\n"
      "(\"name = value\" lines, # for comments), or the command line; the later wins.\n\n"
      "`set` changes DIR/comanda.conf, and `unset` goes back to the default: the settings are "
      "checked\n"
      "together first, and nothing is written where one cannot be used. Settings that need each "
      "other, as\n"
      "tls_certificate and tls_key, are set at once. It says how a running server takes the "
      "change over.\n\n"
      "`check` says whether this program can use the settings and the databases that are there; "
      "the\n"
      "server may be running. It warns of a restaurant's time zone that this machine has no data "
      "for.\n"
      "Exit codes: 0 it can, 1 it cannot, and why. Both look at the files "
      "that settings\n"
      "name, as the owner of the data directory, as whom the service runs. A file that only "
      "backups, webhooks\n"
      "or the cloud need hinders no start: `check` names it and what to do, on stderr.\n\n"
      "A star marks what SIGHUP (`systemctl reload comanda`) applies without a restart.\n\n";
  for (const config::Help& row : config::Table()) {
    out += "  " + std::string(row.name) + " " + std::string(row.argument) +
           (row.reloadable ? " *" : "");
    if (!row.default_value.empty()) out += "   (default " + std::string(row.default_value) + ")";
    out += "\n      " + std::string(row.text) + "\n";
  }
  return out;
}

// Refusal if a file that the settings name cannot be used.
void CheckFiles(const config::Options& options) {
  const UtcMs now = SystemClock().Now();
  if (!options.tls_certificate.empty()) {
    ops::CurrentCertificate(options, {}, {.wall = now, .settled = now, .built = BuildDate()});
  }
  if (options.webhook_ca.empty()) return;
  const auto pem = ReadFile(options.webhook_ca);
  if (!pem) {
    throw Invalid("webhook_ca", FieldCode::kNotFound, options.webhook_ca + " does not exist");
  }
  crypto::Authorities{*pem};
}

// Refusal for a file that a change names or the server does not start without; of the others it is
// said what to do: they do not hinder another change, or an upgrade.
void JudgeFiles(const config::Options& options, const std::vector<config::Change>& changes) {
  const doctor::Findings findings = FindFileTroubles(options);
  for (const doctor::Finding& finding : findings) {
    const bool is_changed = std::ranges::any_of(
        changes, [&](const config::Change& change) { return change.name == finding.check; });
    if (is_changed || finding.state == doctor::State::kBroken) throw AsRefusal(finding);
  }
  for (const doctor::Finding& finding : findings) PrintError(Describe(AsRefusal(finding)));
}

// A database that is not there yet is made at the start.
void CheckDatabases(const config::Options& options) {
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const std::string path = DatabasePath(mode, options);
    if (::access(path.c_str(), F_OK) != 0) continue;
    db::Watcher watcher(path, SystemClock());
    const int64_t found = watcher.SchemaVersion();
    const int64_t known = SchemaKnown();
    if (found > known) {
      throw Refusal(Problem::kValidationFailed, db::OfNewerProgram(path, found, known));
    }
    // Orders go on without the data: no reason to refuse an upgrade.
    for (const std::string& trouble : company::ZoneTroubles(path)) {
      Print("warning: " + trouble + "\n");
    }
  }
}

void Check(const config::Options& options) {
  CheckFiles(options);
  JudgeFiles(options, {});
  CheckDatabases(options);
  Print("the settings and databases can be used\n");
}

// The words behind the verb, as changes.
std::vector<config::Change> ReadChanges(const std::vector<std::string>& words) {
  const bool sets = words[0] == "set";
  const size_t step = sets ? 2 : 1;
  if (words.size() < 1 + step || (words.size() - 1) % step != 0) {
    throw Refusal(Problem::kInvalidParameter,
                  sets ? "say `comanda config set NAME VALUE`; a value with blanks stands in "
                         "quotes"
                       : "say `comanda config unset NAME`");
  }
  std::vector<config::Change> changes;
  for (size_t i = 1; i < words.size(); i += step) {
    std::string name = words[i];
    std::replace(name.begin(), name.end(), '-', '_');
    const auto is_same = [&](const config::Change& change) { return change.name == name; };
    if (std::any_of(changes.begin(), changes.end(), is_same)) {
      throw Refusal(Problem::kInvalidParameter, name + " stands there twice");
    }
    changes.push_back({name, sets ? std::optional(words[i + 1]) : std::nullopt});
  }
  return changes;
}

void ChangeFile(const std::map<std::string, std::string>& flags,
                const std::vector<config::Change>& changes) {
  for (const auto& [name, value] : flags) {
    if (name == "data") continue;
    throw Refusal(Problem::kInvalidParameter,
                  "say `comanda config set " + name + " VALUE`, without hyphens");
  }
  const std::string directory = config::DataDirectory(flags);
  if (::access(directory.c_str(), F_OK) != 0) {
    throw Refusal(Problem::kValidationFailed, "there is no data directory " + directory +
                                                  ": name the server's with --data DIR");
  }
  const config::FileChange change(directory, changes);
  CheckFiles(change.options());
  JudgeFiles(change.options(), changes);
  change.Write();
  Print(directory + "/comanda.conf is changed. A running server takes it over with: systemctl " +
        (change.reloadable() ? "reload" : "restart") + " comanda\n");
}

}  // namespace

int ShowConfig(Words words) {
  std::vector<Flag> flags;
  for (const config::Help& row : config::Table())
    flags.push_back({row.name, row.argument, row.text});
  flags.push_back({"help", "", "show this"});
  const Arguments arguments = Arguments::Parse(words, flags);
  if (arguments.Has("help")) {
    Print(Help());
  } else if (arguments.positional().empty()) {
    Print(config::Describe(arguments.flags()));
  } else if (arguments.positional()[0] == "set" || arguments.positional()[0] == "unset") {
    ChangeFile(arguments.flags(), ReadChanges(arguments.positional()));
  } else if (arguments.positional().size() == 1 && arguments.positional()[0] == "check") {
    Check(config::Load(arguments.flags()));
  } else {
    throw Refusal(Problem::kInvalidParameter,
                  "say `comanda config`, `comanda config set`, `unset` or `check`");
  }
  return kExitDone;
}

}  // namespace comanda::app
