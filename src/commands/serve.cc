#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/app.h"
#include "app/storage.h"
#include "base/concat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/time/zone.h"
#include "base/version.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "db/health.h"
#include "ops/systemd.h"

namespace comanda::commands {
namespace {

// The flags of `comanda serve`: one for each setting.
std::vector<Flag> Flags() {
  std::vector<Flag> flags;
  for (const config::Help& row : config::Table())
    flags.push_back({row.name, row.argument, row.text});
  flags.push_back({"help", "", "show this"});
  return flags;
}

// Signals to block in every thread, so that RunUntilSignal() receives them.
sigset_t Signals(std::initializer_list<int> numbers) {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : numbers) ::sigaddset(&signals, number);
  return signals;
}

void BlockSignals() {
  const sigset_t signals = Signals({SIGTERM, SIGINT, SIGHUP});
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// Runs before all other code of the program, with the arguments of main() (a glibc extension).
// Without it, a SIGHUP or a SIGPIPE in the first milliseconds would end the process. A blocked
// SIGHUP stays pending until RunUntilSignal().
[[gnu::constructor(101)]] void BlockSignalsOfServe(int count, char** words, char**) {
  if (count < 2 || std::string_view(words[1]) != "serve") return;
  ::signal(SIGPIPE, SIG_IGN);
  BlockSignals();
}

// Waits a minute, or until a signal, before the process ends after an upgrade that failed on a full
// or read-only disk. systemd restarts the process a second after its end; without the wait each
// restart would fill the disk again.
void WaitBeforeTheNextTry(const std::string& why) {
  if (!ops::UnderSystemd()) return;
  log::Error("not serving, tried again in a minute", {{"why", why}});
  const sigset_t stop = Signals({SIGTERM, SIGINT});
  const timespec minute{.tv_sec = 60, .tv_nsec = 0};
  ::sigtimedwait(&stop, nullptr, &minute);
}

db::DirectoryLock Own(const std::string& data_directory) {
  MakeDirectories(data_directory, 0700);
  auto lock = db::DirectoryLock::TryAcquire(data_directory);
  if (!lock) {
    throw Fault(Fault::Kind::kUnavailable,
                "another Comanda serves " + data_directory +
                    " already; stop it first, or name another directory with --data");
  }
  return *std::move(lock);
}

// Limits the number of malloc's heaps. By default glibc makes up to eight per processor, each of
// which keeps freed memory: after 100,000 requests to 64 workers on two processors the server then
// uses 62 to 68 MB instead of 41 (tests/fault/test_soak.py allows 64 MiB). Call it before the first
// thread starts.
void LimitHeaps() {
  constexpr int kHeapsMax = 2;
  ::mallopt(M_ARENA_MAX, kHeapsMax);
  // Blocks of this size and more are returned to the system when they are freed. Without a fixed
  // value, glibc raises the threshold to the largest block that was ever freed.
  constexpr int kOwnMappingBytes = 256 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kOwnMappingBytes);
}

}  // namespace

int Serve(Words words) {
  const std::vector<Flag> flags = Flags();
  const std::optional<Arguments> arguments = ReadArguments(words, flags, ServeHelp());
  if (!arguments) return kExitDone;
  if (!arguments->positional().empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  "serve takes options only, not '" + arguments->positional().front() + "'");
  }

  LimitHeaps();
  const auto load = [&] { return config::Load(arguments->flags()); };
  const config::Options options = load();
  std::optional<app::App> app;
  try {
    db::DirectoryLock lock = Own(options.data_directory);
    app::Listeners listeners(ops::TakePassedDescriptors(), options);
    const app::Awaited awaited = app::AwaitDatabase(options, listeners);
    if (awaited.is_stopped) return kExitDone;
    app.emplace(options, std::move(lock), std::move(listeners), awaited.note);
  } catch (const db::OwnedByAnother& owned) {  // another standby was faster: it waits again
    throw Fault(owned.kind, owned.cause);
  } catch (const Fault& fault) {
    const bool may_pass =
        fault.kind == Fault::Kind::kDiskFull || fault.kind == Fault::Kind::kDiskReadOnly;
    if (may_pass) WaitBeforeTheNextTry(fault.cause);
    throw;
  }
  log::Notice("serving", {{"version", kVersion},
                          {"data", options.data_directory},
                          {"authority", ops::AuthorityPath(options)},
                          {"certificate_sha256", app->CertificateFingerprint()}});
  for (const std::string& address : app->Addresses())
    log::Notice("listening", {{"address", address}});
  for (const std::string& address : app->SandboxAddresses())
    log::Notice("sandbox", {{"address", address}});
  for (const std::string& address : app->SetupAddresses())
    log::Notice("setup", {{"address", address}});
  if (!SystemHasZones()) {
    log::Warning(
        Concat({"this machine has no time zone data, and no restaurant can be brought in: `",
                kInstallZones, "`"}));
  }
  if (!app->HasCompany()) {
    log::Warning("no restaurant yet: run `comanda import FILE --data " + options.data_directory +
                 "` (or `comanda import demo`), then `comanda keys create`");
  }
  app->RunUntilSignal(load);
  return kExitDone;
}

}  // namespace comanda::commands
