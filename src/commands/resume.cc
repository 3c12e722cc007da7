#include <unistd.h>

#include <array>
#include <string>

#include "app/environment.h"
#include "app/storage.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "json/reader.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kHelpFlag,
};

// Throws what the command line prints where the answer is a refusal.
bool WasHeld(const ControlAnswer& answer) {
  const json::Document document = json::Document::Parse(answer.body);
  const auto data = document.root().Find("data");
  const auto was_held = data ? data->Find("was_held") : std::nullopt;
  return was_held && was_held->kind() == json::Kind::kBoolean && was_held->boolean();
}

}  // namespace

int Resume(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, ResumeHelp());
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "resume");
  const config::Options options = ReadControlOptions(*arguments);
  bool was_held = false;
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const bool is_optional = mode == auth::Mode::kTest;
    if (is_optional && !app::DatabaseIsThere(mode, options)) continue;
    const ControlAnswer answer = CallControl(
        options, {.mode = mode, .method = "POST", .path = "/control/resume", .body = "{}"});
    if (answer.status >= 300) {
      PrintError(std::string(is_optional ? "the sandbox stays held: " : "") +
                 DescribeProblem(answer.body));
      return kExitRefused;
    }
    was_held = WasHeld(answer) || was_held;
  }
  Print(was_held ? "resumed: what waits is sent\n" : "nothing was held\n");
  return kExitDone;
}

}  // namespace comanda::commands
