#include "commands/table.h"

#include <array>
#include <string>

#include "commands/commands.h"
#include "commands/terminal.h"

namespace comanda::commands {
namespace {

// What another tool does here.
int SayBackUp(Words) {
  PrintError("the database server is backed up: pgbackrest --stanza=comanda backup");
  return kExitUsage;
}

int SayRestore(Words) {
  PrintError(
      "the database server is restored: pgbackrest --stanza=comanda restore, with this service "
      "stopped; at its next start it tells its clients that the data went back");
  return kExitUsage;
}

int SayDrill(Words) {
  PrintError(
      "a backup of the database server is tried on another machine: pgbackrest "
      "--stanza=comanda restore");
  return kExitUsage;
}

int SayVerify(Words) {
  PrintError(
      "rows are verified while the server runs, once a day, and /readyz names what is damaged; "
      "pages: pg_amcheck");
  return kExitUsage;
}

int SayDoctor(Words) {
  PrintError("/readyz of this server and `patronictl list` say what is wrong");
  return kExitUsage;
}

int SayDisk(Words) {
  PrintError("a disk for backups is where pgbackrest.conf has its repository: repo1-path");
  return kExitUsage;
}

int SayCloud(Words) {
  PrintError("a head office is the cloud itself: boxes link to it with `comanda cloud link`");
  return kExitUsage;
}

int SayExport(Words) {
  PrintError("data come from SQLite to here, and not back: pg_dump copies the database");
  return kExitUsage;
}

int SayProvider(Words) {
  PrintError("delivery apps are connected where the orders are: `comanda provider` on a box");
  return kExitUsage;
}

constexpr std::array kCommands = {
    Command{"serve", "run the server until it is told to stop", Serve},
    Command{"import", "bring a restaurant in from a JSON file, or the demo restaurant", ImportFile},
    Command{"demo", "play the demo restaurant: a month of orders, then a Friday evening", Demo},
    Command{"load", "bring a cloud's data in that `comanda export` has written", Load},
    Command{"resume", "send what is held since the data came from another server", Resume},
    Command{"keys", "make, list and revoke API keys", Keys},
    Command{"pair", "let a till or a display in: by a QR code, or by its number", Pair},
    Command{"webhooks", "add, test, pause and remove the receivers of events", Webhooks},
    Command{"office", "let somebody ask the database in SQL", Office},
    Command{"status", "say what the database's servers are doing, and who serves it", ShowStatus},
    Command{"audit", "show who changed what about the access to a restaurant", ShowAudit},
    Command{"tls", "show or renew the certificate authority that devices trust", Tls},
    Command{"config", "show, change and check the settings", ShowConfig},
    Command{"selftest", "walk the whole contract against a running server", SelfTest},
    Command{"version", "show the version of this program and of every library inside", Version},
};

// Words of `comanda` that mean something else here.
constexpr std::array kOfTheBox = {
    Command{"backup", "", SayBackUp},     Command{"restore", "", SayRestore},
    Command{"drill", "", SayDrill},       Command{"verify", "", SayVerify},
    Command{"doctor", "", SayDoctor},     Command{"cloud", "", SayCloud},
    Command{"provider", "", SayProvider}, Command{"export", "", SayExport},
    Command{"disk", "", SayDisk},
};

}  // namespace

std::string_view ProgramName() { return "comanda-head"; }

std::span<const Command> Commands() { return kCommands; }

std::span<const Command> CommandsOfOthers() { return kOfTheBox; }

}  // namespace comanda::commands
