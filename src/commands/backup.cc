#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/embedded.h"
#include "app/storage.h"
#include "app/environment.h"
#include "backups/copy.h"
#include "backups/medium.h"
#include "backups/place.h"
#include "backups/results.h"
#include "backups/rotating.h"
#include "backups/unfinished_backup.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"
#include "base/problem_text.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/passphrase.h"
#include "commands/terminal.h"
#include "integrity/file_verification.h"
#include "ops/user.h"

namespace comanda::commands {
namespace {

constexpr Flag kPlainFlag = {"plain", "", "do not seal TARGET, though a passphrase is set"};

constexpr std::array kFlags = {
    kDataFlag,
    kPassphraseFlag,
    kPlainFlag,
    kHelpFlag,
};

constexpr std::string_view kSealedEnd = ".sealed";
constexpr std::string_view kOpenThere =
    ": the file system there does not protect files from other users: everybody who can read the "
    "disk can read the keys in the backup. Sealed backups (setting backup_passphrase_file) are "
    "recommended";

dev_t DiskOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_dev : 0;
}

void SayIfSameDisk(const config::Options& options, const std::string& target,
                   const std::string& made) {
  if (DiskOf(made) != DiskOf(options.data_directory)) return;
  const std::string mount_point = backups::UnmountedPoint(target);
  PrintError(target + " is on the same disk as the data" +
             (mount_point.empty() ? "" : ", for nothing is mounted on " + mount_point) +
             ": a disk that fails takes both; put a copy on another disk");
}

std::optional<backups::Counted> CountRows(const std::string& path) {
  const auto report =
      integrity::VerifyRows(path, integrity::FileState::kFrozen, app::SchemaKnown(), SystemClock());
  if (!report) return std::nullopt;
  return backups::Counted{
      .orders = report->orders, .events = report->events, .damaged = report->damage.size()};
}

void Say(const backups::Copied& copied, const config::Options& options) {
  for (const std::string& line : copied.files) Print(line + "\n");
  for (const std::string& remark : copied.remarks) PrintError(remark);
  if (!copied.is_damaged) return;
  PrintError("the backup is made, but some of what it copied is damaged: `comanda verify --data " +
             options.data_directory + "` names it");
}

void RemoveWhatIsLeft(const config::Options& options, const std::string& beside) {
  for (const std::string& left : backups::RemoveUnfinishedBackups(options.data_directory, beside)) {
    PrintError("removed what an interrupted backup or drill left: " + left);
  }
}

// Another process makes a backup.
struct Busy {
  UtcMs since = 0;  // 0: not known
};

// One rotating backup at a time; the file has the time at which it began.
Fd LockRotation(const config::Options& options, UtcMs now) {
  const std::string path = options.data_directory + "/backup.lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  const bool is_read_only = !fd && errno == EROFS;
  if (is_read_only) {  // no file can be made there: a directory that nothing else locks does
    fd = Fd(::open((options.data_directory + "/tls").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  if (!fd) {
    throw Fault(Fault::Kind::kInternal,
                "cannot open " + path + ": " + std::strerror(errno) + "; " + AccessAdvice({path}));
  }
  if (!is_read_only) TakeOwnerOfDirectory(path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    if (!is_read_only && ::ftruncate(fd.get(), 0) == 0)
      WriteAll(fd, FormatInstant(now) + "\n", path);
    return fd;
  }
  const std::string begun = is_read_only ? "" : ReadUpTo(fd, 64, path);
  throw Busy{ParseInstant(std::string(Trimmed(begun))).value_or(0)};
}

// Noting is not what a backup fails for: a full disk of the data is a reason to have one elsewhere.
template <typename Note>
void TryToNote(Note&& note) {
  try {
    note();
  } catch (const Fault& fault) {
    PrintError("the result is not noted for /readyz and the doctor: " + fault.cause);
  }
}

void SayMade(const std::string& target, const backups::Making& making, const backups::Made& made) {
  SayIfSameDisk(making.options, target, made.path);
  Say(made.copied, making.options);
  Print(made.path + " is made and checked" + (made.copied.is_damaged ? ", and damaged" : "") +
        "; keep it secret\n");
  for (const std::string& name : made.removed) Print("deleted the old backup " + name + "\n");
  for (const std::string& one : made.not_whole) {
    PrintError(target + "/" + one + "; it is not counted as one of those kept");
  }
  if (!made.is_private) PrintError(target + std::string(kOpenThere));
}

std::map<std::string, int64_t> SizesNoted(const config::Options& options,
                                          const std::string& target) {
  for (backups::Result& one : backups::Results(options.data_directory)) {
    if (one.target == target) return std::move(one.sizes);
  }
  return {};
}

// The result of one target, noted and said. True if it has a good backup now.
bool BackUpTo(const std::string& target, const backups::Making& making) {
  const config::Options& options = making.options;
  backups::Result result = {.target = target, .tried_at = making.clock.Now()};
  try {
    const backups::Made made = backups::BackUpInto(target, making, SizesNoted(options, target));
    SayMade(target, making, made);
    result.is_open = !made.is_private;
    if (made.copied.is_damaged) {
      result.problem = target + ": the database is damaged: `comanda verify` names what is";
    } else {
      result.good_at = making.clock.Now();
      result.name = made.path.substr(made.path.rfind('/') + 1);
      result.mount_point = backups::MountPointOf(target);
      result.sizes = made.sizes;
    }
  } catch (const Refusal& refusal) {
    result.problem = InWords(refusal);
  } catch (const Fault& fault) {
    result.problem = "no backup in " + target + ": " + fault.cause;
  }
  if (!result.problem.empty()) PrintError(result.problem);
  const bool is_good = result.problem.empty();
  TryToNote(
      [&] { backups::NoteResult(options.data_directory, std::move(result), options.backup_to); });
  return is_good;
}

int BackUpToEach(const config::Options& options, const std::string& passphrase) {
  const backups::Making making = {.options = options,
                                  .space = app::SpaceOf(options),
                                  .count_rows = CountRows,
                                  .clock = SystemClock(),
                                  .passphrase = passphrase};
  TryToNote(
      [&] { backups::NoteBegun(options.data_directory, making.clock.Now(), options.backup_to); });
  bool all_good = true;
  for (const std::string& target : options.backup_to) {
    all_good = BackUpTo(target, making) && all_good;
  }
  return all_good ? kExitDone : kExitRefused;
}

// Root makes the directories that only root can make, and then works as the service's user does at
// night: what succeeds by hand succeeds then, too.
void BecomeServiceUser(const config::Options& options) {
  for (const std::string& target : options.backup_to) backups::MakeTarget(options, target);
  if (const auto owner = ops::OwnerOf(options.data_directory)) ops::Become(*owner);
}

// What fails before the first target is tried is a failure of all of them.
int BackUpToAll(const std::string& data_directory, const Arguments& arguments) {
  const UtcMs now = SystemClock().Now();
  std::vector<std::string> targets;
  const auto fail = [&](const std::string& problem, UtcMs since = 0) {
    TryToNote([&] { backups::NoteFailure(data_directory, problem, now, targets, since); });
  };
  try {
    const config::Options options = ReadControlOptions(arguments);
    targets = options.backup_to;
    if (targets.empty()) {
      backups::ForgetResults(options.data_directory);
      Print("the setting backup_to names no directory: nothing is backed up by itself\n");
      return kExitDone;
    }
    BecomeServiceUser(options);
    const Fd lock = LockRotation(options, now);
    return BackUpToEach(options, FindPassphrase(options, arguments));
  } catch (const Busy& busy) {
    const std::string problem =
        "another backup is being made" +
        (busy.since > 0 ? " since " + FormatInstant(busy.since) : std::string()) +
        ": try again when it is done";
    fail(problem, std::max<UtcMs>(busy.since, 1));
    throw Refusal(Problem::kValidationFailed, problem);
  } catch (const Refusal& refusal) {
    fail("no backup was made: " + InWords(refusal));
    throw;
  } catch (const Fault& fault) {
    fail("no backup was made: " + fault.cause);
    throw;
  }
}

std::string DataDirectoryOf(const Arguments& arguments) {
  std::map<std::string, std::string> settings;
  if (const auto data = arguments.Find("data")) settings["data"] = *data;
  return config::DataDirectory(settings);
}

// Refusal if the backup cannot be made at this place.
void RequireNew(const config::Options& options, const std::string& target) {
  if (IsThere(target) || errno != ENOENT) {
    throw Refusal(Problem::kValidationFailed,
                  target + " is there already, or below a file: name a directory that is not");
  }
  if (backups::LiesInside(target, options.data_directory)) {
    throw Refusal(Problem::kValidationFailed,
                  target + " lies inside the data directory " + options.data_directory +
                      ": it would be lost with it; name a directory on another disk");
  }
}

backups::Copied BackUpSealed(const config::Options& options, const std::string& target,
                             const std::string& passphrase) {
  const backups::Making making = {.options = options,
                                  .space = app::SpaceOf(options),
                                  .count_rows = CountRows,
                                  .clock = SystemClock(),
                                  .passphrase = passphrase};
  backups::MakePrivateDirectories(DirectoryOf(target));
  SayIfSameDisk(options, target, DirectoryOf(target));
  std::string path;
  return backups::SealInto(
      DirectoryOf(target), making, [&](bool) { return target.substr(target.rfind('/') + 1); },
      path);
}

backups::Copied BackUpPlain(const config::Options& options, const std::string& target) {
  backups::UnfinishedBackup unfinished(target, options.data_directory);
  SayIfSameDisk(options, target, unfinished.path());
  backups::RequireRoom(unfinished.path(), backups::DatabaseBytes(options), app::SpaceOf(options));
  backups::Copied copied =
      backups::CopyDataDirectory(options, unfinished.path(), CountRows, SystemClock());
  unfinished.Finish();
  if (!backups::IsReadByItsOwnerAlone(target)) {
    copied.remarks.push_back(DirectoryOf(target) + std::string(kOpenThere));
  }
  return copied;
}

int BackUpTo(const config::Options& options, const Arguments& arguments,
             const std::string& passphrase) {
  const std::string target = WithoutSlash(arguments.positional().front());
  const bool is_sealed = target.ends_with(kSealedEnd);
  RequireNew(options, target);
  if (is_sealed && passphrase.empty()) PassphraseFor(target, options, arguments);
  if (!is_sealed && !passphrase.empty() && !arguments.Has("plain")) {
    throw Refusal(
        Problem::kValidationFailed,
        "backups of this box are sealed: name a file that ends in .sealed, or say --plain "
        "for a directory that everybody can read who gets it");
  }
  RemoveWhatIsLeft(options, DirectoryOf(target));
  const backups::Copied copied =
      is_sealed ? BackUpSealed(options, target, passphrase) : BackUpPlain(options, target);
  Print(target + " holds the whole data directory; keep it secret\n");
  Say(copied, options);
  return copied.is_damaged ? kExitRefused : kExitDone;
}

}  // namespace

int BackUp(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, BackupHelp());
  if (!arguments) return kExitDone;
  const auto& targets = arguments->positional();
  if (targets.size() > 1 || (targets.size() == 1 && targets.front().empty())) {
    throw Refusal(Problem::kInvalidParameter,
                  "name the directory to make: comanda backup TARGET --data DIR");
  }
  const std::string data_directory = DataDirectoryOf(*arguments);
  RequireDatabase(data_directory + "/live.db");
  if (targets.empty()) return BackUpToAll(data_directory, *arguments);
  const config::Options options = ReadControlOptions(*arguments);
  return BackUpTo(options, *arguments, FindPassphrase(options, *arguments));
}

}  // namespace comanda::commands
