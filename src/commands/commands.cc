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
#include "base/problem_text.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/embedded.h"
#include "commands/table.h"
#include "commands/terminal.h"
#include "crypto/hash.h"
#include "db/health.h"

namespace comanda::commands {
namespace {

std::string Usage() {
  std::string lines;
  for (const Command& command : Commands()) {
    std::string line = "  " + std::string(command.name);
    line.resize(12, ' ');
    lines += line + std::string(command.summary) + "\n";
  }
  return WithLines(ProgramHelp(), "commands", lines);
}

const Command* Find(std::string_view name) {
  for (const std::span<const Command> table : {Commands(), CommandsOfOthers()}) {
    const auto found = std::ranges::find(table, name, &Command::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

// Texts name the commands of `comanda`; those of another program are typed with its name.
std::string OfThisProgram(std::string text) {
  constexpr std::string_view kName = "comanda";
  if (ProgramName() == kName) return text;
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + kName.size())) {
    const bool begins =
        at == 0 || text[at - 1] == ' ' || text[at - 1] == '`' || text[at - 1] == '\n';
    std::string_view rest = std::string_view(text).substr(at + kName.size());
    if (!begins || !rest.starts_with(' ')) continue;
    rest.remove_prefix(1);
    const std::string_view word =
        rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"));
    const bool is_command = word == "--help" || word == "COMMAND" ||
                            std::ranges::find(Commands(), word, &Command::name) != Commands().end();
    if (is_command) text.replace(at, kName.size(), ProgramName());
  }
  return text;
}

int Unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  const std::string_view nearest = Nearest(name, names);
  std::string message = "there is no command '" + Visible(name) + "'";
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  PrintError(message + " `comanda --help` lists them.");
  return kExitUsage;
}

}  // namespace

std::string Describe(const Refusal& refusal) {
  // The detail of a Refusal with one wrong field describes that field.
  std::string text = Visible(InWords(refusal));
  if (refusal.errors.size() < 2) return text;
  for (const FieldError& error : refusal.errors) {
    text += "\n  " + (error.field.empty() ? "" : Visible(error.field) + ": ");
    text += Visible(error.message);
  }
  return text;
}

void Print(std::string_view text) {
  const std::string shown = OfThisProgram(VisibleLines(text));
  ::fwrite(shown.data(), 1, shown.size(), stdout);
  ::fflush(stdout);  // a pipe gets them while the command waits for a device
}

void PrintError(std::string_view text) {
  const std::string line =
      std::string(ProgramName()) + ": " + OfThisProgram(VisibleLines(text)) + "\n";
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
  } catch (const db::OwnedByAnother& owned) {
    PrintError(owned.cause + ": run this there");
    return kExitRefused;
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
