#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/embedded.h"
#include "app/storage.h"
#include "app/environment.h"
#include "app/file_findings.h"
#include "app/served.h"
#include "app/trial.h"
#include "backups/entries.h"
#include "backups/restore.h"
#include "backups/rotating.h"
#include "backups/sealed.h"
#include "backups/source.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/problem_text.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/passphrase.h"
#include "commands/terminal.h"
#include "db/lock.h"
#include "doctor/checks/named_files.h"
#include "ops/service.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kYesFlag,
    kPassphraseFlag,
    Flag{"damaged", "", "also where something in the backup is damaged or missing"},
    kHelpFlag,
};

// While one exists, SIGINT, SIGTERM and SIGHUP do not end the process: what is unfinished is
// removed, and then the command ends.
class Interruption {
 public:
  Interruption() {
    came_ = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { came_ = 1; };
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  Interruption(const Interruption&) = delete;
  ~Interruption() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  static void Check() {
    if (came_ == 0) return;
    throw Refusal(Problem::kValidationFailed, "interrupted: nothing was changed");
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  static inline volatile sig_atomic_t came_ = 0;
  std::array<struct sigaction, kSignals.size()> before_;
};

[[noreturn]] void Refuse(std::string text) {
  throw Refusal(Problem::kValidationFailed, std::move(text));
}

std::optional<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

// Without symbolic links, so that the directory itself changes its place and not a link to it. It
// need not exist; the directory above it must.
std::string ResolvedDataDirectory(const Arguments& arguments) {
  const std::string path = WithoutSlash(arguments.Find("data").value_or("/var/lib/comanda"));
  if (const auto real = RealPath(path)) return *real;
  const size_t slash = path.rfind('/');
  const auto above = RealPath(DirectoryOf(path));
  if (!above) Refuse("there is no " + DirectoryOf(path) + ": name the data directory with --data");
  return (*above == "/" ? "" : *above) + "/" + path.substr(slash == path.npos ? 0 : slash + 1);
}

// The settings of a data directory, as a server reads them.
config::Options OptionsOf(const std::string& directory) {
  return config::Load({{"data", directory}});
}

// The settings of the present directory; the defaults where they cannot be read, since a restore
// may be meant to bring them back.
config::Options PresentOptions(const std::string& data_directory) {
  try {
    return OptionsOf(data_directory);
  } catch (const Refusal&) {
    return OptionsOf(data_directory + "/no-settings");
  }
}

void RequireApart(const std::string& backup, const std::string& data_directory) {
  const auto real = RealPath(backup);
  if (!real) return;  // reported by Inspect()
  if (*real == data_directory) Refuse(backup + " is the data directory itself: name a backup");
  if (real->starts_with(data_directory + "/")) {
    Refuse(backup + " lies inside the data directory " + data_directory +
           ", which is set aside as a whole: move the backup out of it first");
  }
  if (data_directory.starts_with(*real + "/")) {
    Refuse(data_directory + " lies inside " + backup + ": name the backup itself");
  }
}

// The lock of the present directory, where it is there and no server works in it. Refusal where a
// server holds it that `service` does not stop.
std::optional<db::DirectoryLock> TryLock(const std::string& data_directory,
                                         const std::optional<ops::Service>& service) {
  if (!IsThere(data_directory)) return std::nullopt;
  auto lock = db::DirectoryLock::TryAcquire(data_directory);
  if (lock || (service && service->HoldsLock())) return lock;
  Refuse("a server works in " + data_directory +
         (service ? ", and it is not comanda.service: stop it first"
          : ::geteuid() == 0
              ? ", and no service of systemd does: stop it first"
              : ": stop it first, or run this as root, which stops and starts the service"));
}

// The service was told to stop: its process has ended, or is about to.
db::DirectoryLock WaitForLock(const std::string& data_directory) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (auto lock = db::DirectoryLock::TryAcquire(data_directory)) return *std::move(lock);
    ::usleep(100'000);
  }
  throw Fault(Fault::Kind::kUnavailable, "another server than comanda.service works in " +
                                             data_directory + ": nothing was changed; stop it");
}

constexpr size_t kNamed = 10;

std::string Lines(const std::vector<std::string>& damage) {
  std::string text;
  for (size_t i = 0; i < std::min(damage.size(), kNamed); ++i) text += "\n  " + Visible(damage[i]);
  if (damage.size() > kNamed) {
    text += "\n  and " + std::to_string(damage.size() - kNamed) + " more";
  }
  return text;
}

void RefuseDamage(const std::string& backup, const std::vector<std::string>& damage) {
  Refusal refusal(Problem::kValidationFailed,
                  backup + " is damaged or incomplete; nothing was changed:");
  const auto add = [&](std::string line) {
    refusal.errors.push_back({"", FieldCode::kNotAllowed, std::move(line)});
  };
  for (size_t i = 0; i < std::min(damage.size(), kNamed); ++i) add(damage[i]);
  if (damage.size() > kNamed) add("and " + std::to_string(damage.size() - kNamed) + " more");
  add("take another backup; to take this one as it is: --damaged");
  throw refusal;
}

// What is under preparation.
struct Preparation {
  const std::string data_directory;
  const backups::Source& source;
  const std::string& directory;  // the copy
  bool accepts_damage = false;
};

// The files that the settings tls_certificate and tls_key name, where they were in the data
// directory, as `comanda backup` copies them. A server does not start without them.
void CopyOwnCertificate(const Preparation& preparation, const config::Options& options) {
  const std::string inside = preparation.data_directory + "/";
  for (const std::string& path : {options.tls_certificate, options.tls_key}) {
    if (path.empty()) continue;
    if (path.starts_with(inside)) {
      const std::string name = path.substr(inside.size());
      if (name.find("..") != name.npos ||
          !backups::CopyOne(preparation.source.path, preparation.directory, name,
                            Interruption::Check)) {
        Refuse("the settings of the backup name " + path + ", and " + name +
               " is not in the backup: copy it there, or take the setting out of its comanda.conf "
               "and say --damaged");
      }
    } else if (!IsThere(path)) {
      Refuse("the settings of the backup name " + path +
             ", which is not on this machine: copy it there first, or take the setting out of the "
             "backup's comanda.conf and say --damaged");
    }
  }
}

// Devices trust the authority in tls/: a server without it makes another, which all of them must
// install.
void RequireAuthority(const Preparation& preparation, const config::Options& options) {
  if (!options.tls_certificate.empty()) return;
  const std::string& directory = preparation.directory;
  if (IsThere(directory + "/tls/ca.crt") && IsThere(directory + "/tls/ca.key")) return;
  if (!preparation.accepts_damage) {
    RefuseDamage(preparation.source.name,
                 {"tls/ca.crt or tls/ca.key is missing: it is the authority that devices trust"});
  }
  PrintError("tls/ in the backup is incomplete: the present one is kept, where there is one");
  RemoveAll(directory + "/tls");
  backups::CopyAll(preparation.data_directory, directory, "tls", Interruption::Check);
}

// Refusal where the copy would leave too little space for orders.
void RequireRoom(const std::string& data_directory, const config::Options& options, int64_t bytes) {
  db::SpaceSettings settings = app::SpaceOf(options);
  settings.directory = DirectoryOf(data_directory);
  if (backups::LeavesRoomForOrders(bytes, settings)) return;
  throw Fault(Fault::Kind::kDiskFull,
              "the disk of " + data_directory + " has too little space for " +
                  std::to_string(bytes / (1024 * 1024) + 1) +
                  " MiB beside the present data, which are not deleted: make space on it");
}

// Refusal where changes are missing that the directory had when it was served: a write-ahead log
// that is missing or of another time takes the database back without a trace in it.
void RequireAllChanges(const Preparation& preparation, const app::Trial& trial) {
  if (!preparation.source.was_in_use ||
      backups::KindOf(preparation.source.path + "/served") != backups::Kind::kFile) {
    return;
  }
  const auto served = app::FindServed(preparation.source.path, "live.db");
  if (!served || trial.changes >= served->changes) return;
  const std::vector<std::string> damage = {
      "live.db lacks " + std::to_string(served->changes - trial.changes) +
      " changes that it had: live.db-wal is missing, or not the one that belongs to it"};
  if (!preparation.accepts_damage) RefuseDamage(preparation.source.name, damage);
  PrintError("taken though it is damaged:" + Lines(damage));
}

app::Trial TryLive(const Preparation& preparation, const config::Options& options) {
  const auto accept = [&](const integrity::Findings& found) {
    const std::vector<std::string> damage = integrity::SentencesOf(found);
    if (!preparation.accepts_damage) RefuseDamage(preparation.source.name, damage);
    PrintError("taken though it is damaged:" + Lines(damage));
  };
  const auto progress = [](const std::string&) { Interruption::Check(); };
  try {
    app::Trial trial = app::TryDatabase(auth::Mode::kLive, options, accept, progress);
    RequireAllChanges(preparation, trial);
    return trial;
  } catch (const Fault& fault) {
    if (fault.kind == Fault::Kind::kDiskFull) throw;
    Refuse(preparation.source.name + " cannot be restored, nothing was changed: " + fault.cause +
           "; take another backup");
  }
}

// Selling does not depend on the sandbox: a damaged one is left out, and made again.
void TrySandbox(const Preparation& preparation, const config::Options& options) {
  if (!preparation.source.sandbox_damage.empty()) {
    PrintError("the sandbox is left out, the server makes a new one: " +
               preparation.source.sandbox_damage);
  }
  if (!preparation.source.has_sandbox) return;
  const auto refuse = [](const integrity::Findings& damage) { Refuse(damage.front().what); };
  std::string why;
  try {
    app::TryDatabase(auth::Mode::kTest, options, refuse,
                     [](const std::string&) { Interruption::Check(); });
    return;
  } catch (const Refusal& refusal) {
    why = InWords(refusal);
  } catch (const Fault& fault) {
    if (fault.kind == Fault::Kind::kDiskFull) throw;
    why = fault.cause;
  }
  PrintError("the sandbox is left out, the server makes a new one: " + why);
  for (const char* part : {"", "-wal", "-shm"}) {
    RemoveAll(preparation.directory + "/test.db" + part);
  }
}

app::Trial Prepare(const Preparation& preparation) {
  if (!preparation.source.damage.empty()) {
    if (!preparation.accepts_damage) {
      RefuseDamage(preparation.source.name, preparation.source.damage);
    }
    PrintError("taken though it is damaged:" + Lines(preparation.source.damage));
  }
  backups::CopyOne(preparation.source.path, preparation.directory, "comanda.conf",
                   Interruption::Check);
  const config::Options options = OptionsOf(preparation.directory);
  const bool is_unsealed = preparation.source.path.starts_with(preparation.directory + "/");
  if (!is_unsealed) {
    RequireRoom(preparation.data_directory, options, backups::BytesOf(preparation.source));
  }
  backups::CopyInto(preparation.source, preparation.directory, Interruption::Check);
  if (preparation.source.was_in_use) {
    backups::CopyOne(preparation.source.path, preparation.directory, "cloud.key",
                     Interruption::Check);
    backups::CopyAll(preparation.source.path, preparation.directory, "credentials",
                     Interruption::Check);
  }
  CopyOwnCertificate(preparation, options);
  if (is_unsealed) RemoveAll(preparation.source.path);
  RequireAuthority(preparation, options);
  app::Trial trial = TryLive(preparation, options);
  TrySandbox(preparation, options);
  Interruption::Check();
  return trial;
}

std::string Minute(UtcMs at) {
  return FormatInstant(at).substr(0, 16).replace(10, 1, " ") + " UTC";
}

std::string Describe(const app::Trial& trial) {
  std::string text = "the data are from " +
                     (trial.until > 0 ? Minute(trial.until) : std::string("an unknown time")) +
                     ": " + Counted(trial.orders, "order", "orders");
  if (trial.last_order) {
    text += ", the last one " + trial.last_order->public_id + " of " +
            Minute(trial.last_order->created_at);
  }
  return text + "\n";
}

// Refusal unless a person says yes.
void Ask(const std::string& data_directory, bool stops_service) {
  const bool is_wanted =
      AskYes((IsThere(data_directory) ? data_directory + " is set aside, with all that is in it.\n"
                                      : data_directory + " is made.\n") +
             (stops_service ? "The service is stopped for a moment.\n" : "") + "Restore?");
  Interruption::Check();
  if (!is_wanted) Refuse("not restored; nothing was changed");
}

// What a machine has for itself stays on it. After the server has ended, which may write them.
void CarryOver(const std::string& from, const std::string& to) {
  const auto go_on = [] {};
  for (const char* name : {"/cloud.key", "/credentials"}) {
    if (IsThere(from + name)) RemoveAll(to + name);
  }
  const bool has_key = backups::CopyOne(from, to, "cloud.key", go_on);
  backups::CopyAll(from, to, "credentials", go_on);
  // Or doctor would say that no backup was made yet to the disk that this one came from.
  backups::CopyOne(from, to, "backup-results", go_on);
  if (has_key || IsThere(from + "/credentials")) {
    Print("kept of this machine: cloud.key, credentials/\n");
  }
}

// Waits for the server that was just started.
void RequireReady(const std::string& data_directory) {
  constexpr int kTries = 50;
  std::string why;
  for (int i = 0; i < kTries; ++i) {
    try {
      const ControlAnswer answer =
          CallControl(OptionsOf(data_directory), {.method = "GET", .path = "/readyz"});
      if (answer.status == 200) return;
      why = "/readyz answers " + std::to_string(answer.status) + ": " + answer.body;
    } catch (const Fault& fault) {
      why = fault.cause;
    }
    ::usleep(200'000);
  }
  throw Fault(Fault::Kind::kUnavailable, why);
}

void StartAgain(const ops::Service& service, const std::string& data_directory,
                const std::string& former) {
  try {
    service.Start();
    RequireReady(data_directory);
  } catch (const Fault& fault) {
    throw Fault(Fault::Kind::kUnavailable,
                "restored, but the service does not serve: " + fault.cause +
                    "\nThe reason: journalctl -u comanda -n 20" +
                    (former.empty() ? "" : "\nTo go back: comanda restore " + former));
  }
}

// Stops the service, puts the copy in place. Returns where the former directory is. If it fails,
// the service runs again with the directory that it had.
std::string ChangePlaces(std::optional<db::DirectoryLock> lock, backups::UnfinishedRestore& copy,
                         const std::optional<ops::Service>& service,
                         const std::string& data_directory, const std::string& backup) {
  const bool was_active = service && service->IsActive();
  try {
    if (was_active) service->Stop();
    if (!lock && IsThere(data_directory)) lock = WaitForLock(data_directory);
    if (IsThere(data_directory)) CarryOver(data_directory, copy.path());
    return copy.PutInPlace(RealPath(backup).value_or(backup));
  } catch (...) {
    lock.reset();
    if (was_active) service->Start();
    throw;
  }
}

std::optional<backups::Owner> OwnerOf(const std::optional<ops::Service>& service) {
  const auto user = service ? service->FindUser() : std::nullopt;
  if (!user) return std::nullopt;
  return backups::Owner{user->user, user->group};
}

// The settings are those of the backup, and files that they name may be missing on this machine:
// each night's backup would fail for it.
void SayWhatIsMissing(const std::string& data_directory, const Arguments& arguments) {
  doctor::Box box;
  box.options = PresentOptions(data_directory);
  const std::string& passphrase = box.options.backup_passphrase_file;
  for (doctor::Finding& finding : app::FindFileTroubles(box.options)) {
    const auto given = arguments.Find("passphrase-file");
    if (given && finding.check == "backup_passphrase_file" && !IsThere(passphrase)) {
      finding.command = "install -m 600 -o " + doctor::NameOfOwner(box) + " '" + *given + "' '" +
                        passphrase + "'";
    }
    PrintError(commands::Describe(app::AsRefusal(finding)));
  }
}

void Finish(const app::Trial& trial, const std::string& data_directory, const std::string& former,
            bool is_started) {
  Print("restored: " + Describe(trial));
  Print("API keys that were revoked since are valid again: comanda keys list\n");
  if (!former.empty()) {
    Print("the former data directory is " + former + "; delete it when nothing of it is missed\n");
  }
  for (const std::string& note : trial.notes) Print("note: " + note + "\n");
  if (trial.is_held) {
    Print(
        "these data were served by another machine: webhooks are held. When that one is off: "
        "comanda resume\n");
  }
  const bool is_default = data_directory == "/var/lib/comanda";
  Print(is_started ? "the service runs\n"
                   : "start the server: comanda serve" +
                         (is_default ? std::string() : " --data " + data_directory) + "\n");
}

}  // namespace

int Restore(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, RestoreHelp());
  if (!arguments) return kExitDone;
  if (arguments->positional().size() != 1 || arguments->positional().front().empty()) {
    throw Refusal(Problem::kInvalidParameter, "name the backup: comanda restore BACKUP");
  }
  const std::string backup = WithoutSlash(arguments->positional().front());
  const std::string data_directory = ResolvedDataDirectory(*arguments);
  RequireApart(backup, data_directory);
  const Interruption interruption;
  const std::optional<ops::Service> service = ops::Service::Of(data_directory);
  std::optional<db::DirectoryLock> lock = TryLock(data_directory, service);
  std::optional<backups::Source> source;
  if (!backups::IsSealed(backup)) source = backups::Inspect(backup, app::SchemaKnown());
  std::string passphrase;
  if (!source) passphrase = PassphraseFor(backup, PresentOptions(data_directory), *arguments);
  for (const std::string& line : backups::CleanUpRestores(data_directory)) PrintError(line);

  app::Trial trial;
  std::string former;
  {
    backups::UnfinishedRestore copy(data_directory, SystemClock().Now(), OwnerOf(service));
    if (!source) {
      RequireRoom(data_directory, OptionsOf(copy.path()), SizeOf(backup));
      source = backups::Unsealed(backup, copy.path(), passphrase, app::SchemaKnown());
    }
    trial = Prepare({.data_directory = data_directory,
                     .source = *source,
                     .directory = copy.path(),
                     .accepts_damage = arguments->Has("damaged")});
    if (!arguments->Has("yes")) {
      Print(Describe(trial));
      Ask(data_directory, service && service->IsActive());
    }
    former = ChangePlaces(std::move(lock), copy, service, data_directory, backup);
  }
  if (service) StartAgain(*service, data_directory, former);
  Finish(trial, data_directory, former, service.has_value());
  SayWhatIsMissing(data_directory, *arguments);
  return kExitDone;
}

}  // namespace comanda::commands
