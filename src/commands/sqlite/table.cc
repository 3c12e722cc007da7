#include "commands/table.h"

#include <array>

#include "commands/commands.h"

namespace comanda::commands {
namespace {

constexpr std::array kCommands = {
    Command{"serve", "run the server until it is told to stop", Serve},
    Command{"import", "bring a restaurant in from a JSON file, or the demo restaurant", ImportFile},
    Command{"demo", "play the demo restaurant: a month of orders, then a Friday evening", Demo},
    Command{"backup", "make a checked copy of everything, also while the server runs", BackUp},
    Command{"disk", "put the backups on another disk, and mount it at each start", Disk},
    Command{"restore", "put a copy of a backup in the place of the data directory", Restore},
    Command{"drill", "try whether a backup can be restored, and compare it with the data", Drill},
    Command{"export", "write all data for a head office on PostgreSQL", Export},
    Command{"resume", "send what is held since the data came to another machine", Resume},
    Command{"verify", "look whether everything stored, or in a backup, is as it was written",
            Verify},
    Command{"doctor", "say what is wrong with this box, why it matters, and what to do", Doctor},
    Command{"keys", "make, list and revoke API keys", Keys},
    Command{"pair", "let a till or a display in: by a QR code, or by its number", Pair},
    Command{"webhooks", "add, test, pause and remove the receivers of events", Webhooks},
    Command{"provider", "connect delivery apps, and ask them whether the store is open", Providers},
    Command{"cloud", "keep the restaurant and its account in the cloud in step", Cloud},
    Command{"audit", "show who changed what about the access to a restaurant", ShowAudit},
    Command{"tls", "show or renew the certificate authority that devices trust", Tls},
    Command{"config", "show, change and check the settings", ShowConfig},
    Command{"selftest", "walk the whole contract against a running server", SelfTest},
    Command{"version", "show the version of this program and of every library inside", Version},
};

}  // namespace

std::string_view ProgramName() { return "comanda"; }

std::span<const Command> Commands() { return kCommands; }

std::span<const Command> CommandsOfOthers() { return {}; }

}  // namespace comanda::commands
