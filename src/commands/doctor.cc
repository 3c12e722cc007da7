#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "app/embedded.h"
#include "app/storage.h"
#include "app/environment.h"
#include "base/build_date.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/lock_holder.h"
#include "commands/terminal.h"
#include "db/read_only.h"
#include "doctor/bounded.h"
#include "doctor/checks/interfaces.h"
#include "doctor/doctor.h"
#include "doctor/report.h"
#include "json/reader.h"
#include "json/writer.h"
#include "ops/health.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kJsonFlag,
    kHelpFlag,
};

constexpr int kExitWarnings = 1;
constexpr int kExitBroken = 2;

constexpr int64_t kSettingsMs = 4'000;
constexpr int64_t kAskMs = 3'000;
constexpr int64_t kFindServerMs = 9'000;

using Given = std::map<std::string, std::string>;

// The flags with which a server was started; its settings depend on them.
Given FlagsOf(const doctor::Machine& machine, int64_t process) {
  const std::vector<std::string> command = CommandOf(machine, process);
  const std::vector<std::string_view> words(command.begin(), command.end());
  const auto serve = std::ranges::find(words, "serve");
  if (serve == words.end()) return {};
  std::vector<Flag> flags;
  for (const config::Help& row : config::Table()) {
    flags.push_back({row.name, row.argument, row.text});
  }
  try {
    return Arguments::Parse(std::span(serve + 1, words.end()), flags).flags();
  } catch (const Refusal&) {  // of a later program, or changed by itself
    return {};
  }
}

std::string TextIn(const json::Value& object, std::string_view key) {
  const auto value = object.Find(key);
  return value && value->kind() == json::Kind::kText ? std::string(value->text()) : "";
}

// What a server says of itself, as JSON, since another process asks it (doctor/bounded.h).
std::string AskAll(const config::Options& options) {
  doctor::Machine machine;
  const std::string socket = options.data_directory + "/control.sock";
  const std::optional<int64_t> holder = FindLockHolder(machine, options.data_directory);
  const bool is_refused = ::access(socket.c_str(), R_OK | W_OK) != 0 && errno == EACCES;
  std::string trouble;
  std::optional<ControlAnswer> readiness;
  std::optional<ControlAnswer> metrics;
  if (!is_refused && machine.IsThere(socket)) {
    readiness = AskServer(options, "/readyz", kAskMs, trouble);
    if (readiness) metrics = AskServer(options, "/metrics", kAskMs, trouble);
  }
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("runs").Boolean(holder || readiness);
  out.Key("process").Integer(holder.value_or(0));
  if (readiness) out.Key("readiness").Text(readiness->body);
  if (metrics) out.Key("metrics").Text(metrics->body);
  out.Key("trouble").Text(Visible(trouble)).Key("refused").Boolean(is_refused).EndObject();
  return text;
}

std::optional<doctor::Server> FindServer(const config::Options& options) {
  const doctor::Outcome outcome =
      doctor::RunBounded([&] { return AskAll(options); }, kFindServerMs);
  if (!outcome.result) return std::nullopt;
  const json::Document document = json::Document::Parse(*outcome.result);
  const json::Value root = document.root();
  if (!root.Find("runs")->boolean()) return std::nullopt;
  doctor::Server server;
  server.process = doctor::ParseNumber(root.Find("process")->number_text()).value_or(0);
  if (root.Find("readiness")) server.readiness = TextIn(root, "readiness");
  if (root.Find("metrics")) server.metrics = TextIn(root, "metrics");
  server.trouble = TextIn(root, "trouble");
  if (server.trouble.empty()) server.trouble = "its control socket is missing";
  server.is_refused_us = root.Find("refused")->boolean();
  return server;
}

// A directory that is missing is not one that this user may not read.
bool IsReadable(const std::string& directory) {
  const auto look = [&] {
    const bool is_refused = ::access(directory.c_str(), R_OK | X_OK) != 0 && errno == EACCES;
    return std::string(is_refused ? "" : "readable");
  };
  return doctor::RunBounded(look, kSettingsMs).result == "readable";
}

bool IsReadOnly(const std::string& directory) {
  const auto look = [&] {
    return std::string(db::DirectoryIsReadOnly(directory) ? "read-only" : "");
  };
  return doctor::RunBounded(look, kSettingsMs).result == "read-only";
}

// The settings in force; those of a running server depend on how it was started.
void LoadSettings(Given given, doctor::Box& box) {
  if (!box.is_data_readable) {
    box.options = config::Defaults(given["data"]);
    return;
  }
  const auto load = [&] {
    config::Load(given);
    return std::string();
  };
  const doctor::Outcome outcome = doctor::RunBounded(load, kSettingsMs);
  box.settings_trouble = outcome.failure;
  box.options = outcome.result ? config::Load(given) : config::Defaults(given["data"]);
}

doctor::KernelClock ReadKernelClock() {
  timex request{};
  const int result = ::adjtimex(&request);
  constexpr double kUnitsPerPpm = 65'536;
  return {.state = std::string(ops::ClockState(result)),
          .drift_ppm = static_cast<double>(request.freq) / kUnitsPerPpm};
}

doctor::Box LookAtBox(Given given) {
  doctor::Box box;
  given["data"] = config::DataDirectory(given);
  box.is_data_readable = IsReadable(given["data"]);
  box.is_read_only = IsReadOnly(given["data"]);
  box.schema = app::SchemaKnown();
  box.now = SystemClock().Now();
  box.built = BuildDate();
  box.clock = ReadKernelClock();
  box.is_root = ::geteuid() == 0;
  box.addresses = doctor::ReadInterfaces();
  LoadSettings(given, box);
  box.server = FindServer(box.options);
  if (box.server && box.server->process > 0 && box.settings_trouble.empty()) {
    Given started = FlagsOf(box.machine, box.server->process);
    started["data"] = given["data"];
    started.erase("help");
    LoadSettings(started, box);
  }
  box.space = app::SpaceOf(box.options);
  return box;
}

}  // namespace

int Doctor(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, DoctorHelp());
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "doctor");
  Given given;
  if (const auto data = arguments->Find("data")) given["data"] = *data;
  const doctor::Box box = LookAtBox(std::move(given));
  const doctor::Findings findings = doctor::Examine(box);
  Print(arguments->Has("json") ? doctor::AsJson(findings, box.now) : doctor::AsText(findings));
  switch (doctor::Worst(findings)) {
    case doctor::State::kWell:
      return kExitDone;
    case doctor::State::kWarning:
      return kExitWarnings;
    case doctor::State::kBroken:
      return kExitBroken;
  }
  return kExitBroken;
}

}  // namespace comanda::commands
