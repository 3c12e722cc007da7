#include "commands/commands.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "base/log.h"
#include "base/nearest.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "crypto/hash.h"

namespace comanda::commands {
namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(Words);
};

// The table of commands. `comanda --help` lists it.
constexpr std::array kCommands = {
    Command{"serve", "run the server until it is told to stop", Serve},
    Command{"import", "bring a restaurant in from a JSON file, or the demo restaurant", ImportFile},
    Command{"backup", "make a checked copy of everything, also while the server runs", BackUp},
    Command{"disk", "put the backups on another disk, and mount it at each start", Disk},
    Command{"restore", "put a copy of a backup in the place of the data directory", Restore},
    Command{"drill", "try whether a backup can be restored, and compare it with the data", Drill},
    Command{"resume", "send what is held since the data came to another machine", Resume},
    Command{"verify", "look whether everything stored, or in a backup, is as it was written",
            Verify},
    Command{"doctor", "say what is wrong with this box, why it matters, and what to do", Doctor},
    Command{"keys", "make, list and revoke API keys", Keys},
    Command{"pair", "show a QR code by which a till gets its key", Pair},
    Command{"webhooks", "add, test, pause and remove the receivers of events", Webhooks},
    Command{"provider", "connect delivery apps, and ask them whether the store is open", Providers},
    Command{"cloud", "keep the restaurant and its account in the cloud in step", Cloud},
    Command{"audit", "show who changed what about the access to a restaurant", ShowAudit},
    Command{"tls", "show or renew the certificate authority that devices trust", Tls},
    Command{"config", "show, change and check the settings", ShowConfig},
    Command{"selftest", "walk the whole contract against a running server", SelfTest},
    Command{"version", "show the version of this program and of every library inside", Version},
};

std::string Usage() {
  std::string lines;
  for (const Command& command : kCommands) {
    std::string line = "  " + std::string(command.name);
    line.resize(12, ' ');
    lines += line + std::string(command.summary) + "\n";
  }
  return WithLines(ProgramHelp(), "commands", lines);
}

const Command* Find(std::string_view name) {
  const auto it = std::ranges::find(kCommands, name, &Command::name);
  return it == kCommands.end() ? nullptr : &*it;
}

int Unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view nearest = Nearest(name, names);
  std::string message = "there is no command '" + Visible(name) + "'";
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  PrintError(message + " `comanda --help` lists them.");
  return kExitUsage;
}

}  // namespace

std::string Describe(const Refusal& refusal) {
  std::string text = Visible(refusal.detail);
  // The detail of a Refusal with one wrong field describes that field.
  if (refusal.errors.size() < 2) return text;
  for (const FieldError& error : refusal.errors) {
    text += "\n  " + (error.field.empty() ? "" : Visible(error.field) + ": ");
    text += Visible(error.message);
  }
  return text;
}

void Print(std::string_view text) {
  const std::string shown = VisibleLines(text);
  ::fwrite(shown.data(), 1, shown.size(), stdout);
}

void PrintError(std::string_view text) {
  const std::string line = "comanda: " + VisibleLines(text) + "\n";
  ::fwrite(line.data(), 1, line.size(), stderr);
}

bool AskYes(std::string_view question) {
  if (::isatty(STDIN_FILENO) == 0) {
    throw Refusal(Problem::kInvalidParameter,
                  "there is no terminal to ask on: say --yes. Nothing was changed");
  }
  // A signal that comes after the question and before the read would be lost to both: it is kept
  // until ppoll(), which it ends.
  sigset_t held, before;
  ::sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&held, signal);
  ::sigprocmask(SIG_BLOCK, &held, &before);
  Print(std::string(question) + " [y/N] ");
  ::fflush(stdout);
  std::string answer;
  char letter = 0;
  pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (::ppoll(&terminal, 1, nullptr, &before) == 1 && ::read(STDIN_FILENO, &letter, 1) == 1 &&
         letter != '\n') {
    answer += letter;
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int RunCommand(Words words) {
  // No core files: they would contain keys.
  ::prctl(PR_SET_DUMPABLE, 0);
  ::signal(SIGPIPE, SIG_IGN);

  if (words.empty() || words[0] == "--help" || words[0] == "help" || words[0] == "-h") {
    Print(Usage());
    return words.empty() ? kExitUsage : kExitDone;
  }
  const std::string_view name = words[0] == "--version" ? "version" : words[0];
  if (name != "serve") {
    // stdout is for the output of the command. The log goes to stderr, without info-level lines.
    log::SetOutput(STDERR_FILENO);
    log::SetLevel(log::Level::kError);
  }
  const Command* command = Find(name);
  if (command == nullptr) return Unknown(name);

  try {
    crypto::Initialise();
    return command->run(words.subspan(1));
  } catch (const Refusal& refusal) {
    PrintError(Describe(refusal));
    return refusal.problem == Problem::kInvalidParameter ? kExitUsage : kExitRefused;
  } catch (const Fault& fault) {
    PrintError(fault.cause);
    return kExitFault;
  } catch (const std::system_error& error) {  // only std::thread throws it
    PrintError("the system grants too few threads (" + std::string(error.what()) +
               "): raise TasksMax of the service or `ulimit -u`");
    return kExitFault;
  } catch (const std::exception& error) {
    PrintError(error.what());
    return kExitFault;
  }
}

}  // namespace comanda::commands
