#include <unistd.h>

#include <string>
#include <vector>

#include "app/arguments.h"
#include "app/commands.h"
#include "app/embedded.h"
#include "app/environment.h"
#include "app/terminal.h"
#include "base/problem.h"
#include "config/options.h"
#include "db/migrate.h"
#include "db/watcher.h"

namespace comanda::app {
namespace {

std::string Help() {
  std::string out =
      "comanda config [check] [--data DIR] [--SETTING VALUE …]\n\n"
      "`check` says whether this program can use the settings and the databases that are there; "
      "the\n"
      "server may be running. Exit codes: 0 it can, 1 it cannot, and why.\n\n"
      "Without it, shows every setting in force and where it comes from: the default, "
      "DIR/comanda.conf\n"
      "(\"name = value\" lines, # for comments), or the command line; the later wins.\n"
      "A star marks what SIGHUP (`systemctl reload comanda`) applies without a restart.\n\n";
  for (const config::Help& row : config::Table()) {
    out += "  " + std::string(row.name) + " " + std::string(row.argument) +
           (row.reloadable ? " *" : "");
    if (!row.default_value.empty()) out += "   (default " + std::string(row.default_value) + ")";
    out += "\n      " + std::string(row.text) + "\n";
  }
  return out;
}

// A database that is not there yet is made at the start.
void Check(const config::Options& options) {
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const std::string path = DatabasePath(mode, options);
    if (::access(path.c_str(), F_OK) != 0) continue;
    db::Watcher watcher(path, SystemClock());
    const int64_t found = watcher.SchemaVersion();
    const auto known = static_cast<int64_t>(Migrations().size());
    if (found > known) {
      throw Refusal(Problem::kValidationFailed, db::OfNewerProgram(path, found, known));
    }
  }
  Print("the settings and databases can be used\n");
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
  } else if (arguments.positional().size() == 1 && arguments.positional()[0] == "check") {
    Check(config::Load(arguments.flags()));
  } else {
    throw Refusal(Problem::kInvalidParameter, "say `comanda config` or `comanda config check`");
  }
  return kExitDone;
}

}  // namespace comanda::app
