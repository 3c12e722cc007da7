#include <array>
#include <charconv>
#include <string>

#include "base/concat.h"
#include "base/problem.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/interrupt.h"
#include "commands/terminal.h"
#include "play/play.h"

namespace comanda::commands {
namespace {

constexpr int64_t kSeedMax = 999'999'999;

constexpr std::array kFlags = {
    Flag{"days", "N", "write the orders of so many days before today (default 30, at most 44)"},
    Flag{"speed", "N", "minutes of the evening in a minute (default 1, at most 1000)"},
    Flag{"seed", "N", "another restaurant for each number (default 1)"},
    kDataFlag,
    kHelpFlag,
};
constexpr std::array kVerbs = {Verb{"play", 0}};

int64_t ReadNumber(const Arguments& arguments, const std::string& flag, int64_t usual,
                   int64_t least, int64_t most) {
  const auto text = arguments.Find(flag);
  if (!text) return usual;
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && number >= least && number <= most) {
    return number;
  }
  throw Refusal(Problem::kInvalidParameter, Concat({"--", flag, " is a whole number from ", least,
                                                    " to ", most, ", not '", *text, "'"}));
}

void Say(const std::string& line) { Print(line + "\n"); }

// Refusal where no server is running: what is played is seen by nobody.
void RequireServer(const config::Options& options) {
  RequireDatabase(auth::Mode::kLive, options);
  constexpr int64_t kTimeoutMs = 10'000;
  std::string trouble;
  if (AskServer(options, "/healthz", kTimeoutMs, trouble)) return;
  throw Refusal(Problem::kValidationFailed,
                Concat({"no server answers in ", options.data_directory, " (", trouble,
                        "): start `comanda serve --data ", options.data_directory,
                        "`, or run this as the user of the service or as root"}));
}

}  // namespace

int Demo(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, DemoHelp());
  if (!arguments) return kExitDone;
  ReadVerb(*arguments, kVerbs, "demo");
  play::Settings settings{
      .days = ReadNumber(*arguments, "days", 30, 0, play::kDaysMax),
      .speed = ReadNumber(*arguments, "speed", 1, 1, play::kSpeedMax),
      .seed = static_cast<uint64_t>(ReadNumber(*arguments, "seed", 1, 0, kSeedMax)),
      .interrupted = IsInterrupted,
      .say = Say,
  };
  const config::Options options = ReadControlOptions(*arguments);
  RequireServer(options);
  settings.socket = options.data_directory + "/control.sock";
  WatchForInterrupts();
  play::Play(settings);
  return kExitDone;
}

}  // namespace comanda::commands
