#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/embedded.h"
#include "app/storage.h"
#include "base/build_date.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/time/clock.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/settings_check.h"
#include "commands/terminal.h"
#include "config/options.h"
#include "crypto/authorities.h"
#include "ops/certificates.h"

namespace comanda::commands {
namespace {

// The lines of --help for the settings.
std::string DescribeSettings() {
  std::string out;
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
    Print(WithLines(ConfigHelp(), "settings", DescribeSettings()));
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

}  // namespace comanda::commands
