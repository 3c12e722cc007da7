#include <array>
#include <string>

#include "app/storage.h"
#include "base/time/clock.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/key_flags.h"
#include "commands/terminal.h"
#include "office/login.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"login", 1}};

constexpr std::array kFlags = {
    kDataFlag,
    Flag{"password-file", "FILE", "its first line is the password; nobody else may read it"},
    kHelpFlag,
};

}  // namespace

int Office(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, OfficeHelp());
  if (!arguments) return kExitDone;
  ReadVerb(*arguments, kVerbs, "office");
  const std::string& name = arguments->Word(1, "login: comanda office login NAME", "office");
  const std::string file = RequireFlag(*arguments, "office", "password-file");
  const db::MadeLogin made =
      office::MakeLogin(app::StorageSettings(auth::Mode::kLive, ReadControlOptions(*arguments)),
                        SystemClock(), name, file);
  using enum db::MadeLogin::Outcome;
  if (made.outcome == kNotAllowed) {
    Print(made.sql);
    PrintError(
        "the program's user of the database may not make roles (CREATEROLE): have a superuser run "
        "these lines");
    return kExitRefused;
  }
  Print((made.outcome == kMade ? "made " : "new password for ") + name +
        ": it reads the views of the schema office\n");
  return kExitDone;
}

}  // namespace comanda::commands
