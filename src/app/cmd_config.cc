#include <string>
#include <vector>

#include "app/arguments.h"
#include "app/commands.h"
#include "app/terminal.h"
#include "config/options.h"

namespace comanda::app {
namespace {

std::string Help() {
  std::string out =
      "comanda config [--data DIR] [--SETTING VALUE …]\n\n"
      "Shows every setting in force and where it comes from: the default, DIR/comanda.conf\n"
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

}  // namespace

int ShowConfig(Words words) {
  std::vector<Flag> flags;
  for (const config::Help& row : config::Table())
    flags.push_back({row.name, row.argument, row.text});
  flags.push_back({"help", "", "show this"});
  const Arguments arguments = Arguments::Parse(words, flags);
  Print(arguments.Has("help") ? Help() : config::Describe(arguments.flags()));
  return kExitDone;
}

}  // namespace comanda::app
