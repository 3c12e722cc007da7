#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backups/place.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {
namespace {

struct FileSystem {
  unsigned magic;  // statfs(2)
  std::string_view name;
};
constexpr std::array kOfNetworks = {
    FileSystem{0x6969, "NFS"},      FileSystem{0xff534d42, "CIFS"}, FileSystem{0xfe534d42, "SMB"},
    FileSystem{0x65735546, "FUSE"}, FileSystem{0x01021997, "9p"},
};
constexpr std::array kWithoutOwners = {
    FileSystem{0x4d44, "FAT"},
    FileSystem{0x2011bab0, "exFAT"},
};
constexpr unsigned kInMemory = 0x01021994;  // tmpfs

std::string_view NameIn(std::span<const FileSystem> systems, unsigned magic) {
  for (const FileSystem& one : systems) {
    if (one.magic == magic) return one.name;
  }
  return {};
}

std::optional<Finding> CheckFileSystem(const std::string& directory) {
  struct statfs found {};
  if (::statfs(directory.c_str(), &found) != 0) return std::nullopt;
  const auto magic = static_cast<unsigned>(found.f_type);
  if (const std::string_view name = NameIn(kOfNetworks, magic); !name.empty()) {
    return Broken(directory + " is on " + std::string(name) + ", which is no disk of this machine.",
                  "Locks and syncs do not hold there: orders can be lost.",
                  "findmnt -T " + directory + "     # move the data to a disk of the box");
  }
  if (const std::string_view name = NameIn(kWithoutOwners, magic); !name.empty()) {
    return Broken(directory + " is on " + std::string(name) + ", which knows no owners.",
                  "Every program on the box can read the keys, and a power cut can damage it.",
                  "findmnt -T " + directory + "     # move the data to ext4 or XFS");
  }
  if (magic == kInMemory) {
    return Warning(directory + " is in memory (tmpfs).", "A restart of the machine deletes it.",
                   "findmnt -T " + directory + "     # move the data to a disk");
  }
  return std::nullopt;
}

// What the program keeps in its directory. A log of a developer or a note beside it hinders
// nothing.
bool IsOurs(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "served",         "ballast",     "addresses",    "cloud.key",
      "backup-results", "backup.lock", "control.sock", "control-test.sock"};
  return name.find(".db") != name.npos || name.starts_with("comanda.") ||
         std::ranges::find(kNames, name) != kNames.end();
}

bool IsDatabase(std::string_view name) {
  return name.ends_with(".db") || name.ends_with(".db-wal") || name.ends_with(".db-shm");
}

// Files with one fault.
struct Group {
  int count = 0;
  std::string first;

  void Add(const std::string& path) {
    if (count++ == 0) first = path;
  }
  // "3 files do not …, such as PATH." and "1 file does not …: PATH."
  std::string Text(std::string_view one, std::string_view several) const {
    return Counted(count, one, several) + (count == 1 ? ": " : ", such as ") + first + ".";
  }
};

// What is wrong with the files in the data directory.
struct Wrong {
  Group strange;  // they do not belong to the owner of the directory
  Group closed;   // their owner may not read them, or not write a database
  Group open;     // others may read what is secret
};

void LookAt(const std::string& path, std::string_view name, bool is_secret, uid_t owner,
            Wrong& wrong) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return;
  const mode_t needed = S_ISDIR(found.st_mode) ? 0700 : IsDatabase(name) ? 0600 : 0400;
  if (found.st_uid != owner) wrong.strange.Add(path);
  if (S_ISLNK(found.st_mode)) return;
  if ((found.st_mode & needed) != needed) wrong.closed.Add(path);
  if (is_secret && (found.st_mode & 077) != 0) wrong.open.Add(path);
}

// A directory of the data directory with all that is in it.
void LookInto(const std::string& directory, uid_t owner, Wrong& wrong) {
  if (!IsThere(directory)) return;
  const bool is_secret = directory.ends_with("/credentials");
  LookAt(directory, "", false, owner, wrong);
  for (const std::string& name : FilesIn(directory).value_or(std::vector<std::string>())) {
    LookAt(directory + "/" + name, name, is_secret || name.ends_with(".key"), owner, wrong);
  }
}

Wrong Look(const std::string& directory, uid_t owner) {
  Wrong wrong;
  for (const std::string& name : FilesIn(directory).value_or(std::vector<std::string>())) {
    if (!IsOurs(name)) continue;
    const bool is_secret = name.find(".db") != name.npos || name.ends_with(".key");
    LookAt(directory + "/" + name, name, is_secret, owner, wrong);
  }
  for (const char* inner : {"/tls", "/credentials", "/providers.d"}) {
    LookInto(directory + inner, owner, wrong);
  }
  return wrong;
}

// The number of a user, as the machine's list has it.
std::optional<int64_t> NumberOf(const Machine& machine, const std::string& user) {
  const std::string users = machine.Read("/etc/passwd").value_or("");
  std::string_view rest = users;
  while (!rest.empty()) {
    // NAME:SECRET:USER:GROUP:…
    std::string_view line = TakePiece(rest, '\n');
    if (TakePiece(line, ':') != user) continue;
    TakePiece(line, ':');
    return ParseNumber(TakePiece(line, ':'));
  }
  return std::nullopt;
}

// Owners and modes, the worst first: each is mended by what it says, whichever else is wrong.
Findings CheckOwners(const Box& box, const struct stat& found) {
  const std::string& directory = box.options.data_directory;
  const std::string user = UserOf(box);
  const Wrong wrong = Look(directory, found.st_uid);
  const auto number = NumberOf(box.machine, user);
  Findings findings;
  const bool is_of_root = found.st_uid == 0 && user != "root";
  if (is_of_root || (user != "root" && number && *number != int64_t{found.st_uid})) {
    findings.push_back(Broken(directory + " belongs to " +
                                  (is_of_root ? "root" : "user " + std::to_string(found.st_uid)) +
                                  ", and the service runs as " + user + ".",
                              "The server cannot write there.",
                              "chown -R " + user + ": " + directory));
  } else if (wrong.strange.count > 0) {
    findings.push_back(
        Broken(wrong.strange.Text("file does not belong to the owner of " + directory,
                                  "files do not belong to the owner of " + directory),
               "The server cannot start, or cannot use them.",
               "chown -R --reference=" + directory + " " + directory));
  }
  if ((found.st_mode & 0700) != 0700 || wrong.closed.count > 0) {
    findings.push_back(Broken(
        wrong.closed.count > 0
            ? wrong.closed.Text("file has a mode that keeps the server from using it",
                                "files have a mode that keeps the server from using them")
            : "The mode of " + directory + " keeps the server from using it.",
        "The server cannot start, or no order can be written.", "chmod -R u+rwX " + directory));
  }
  if ((found.st_mode & 077) != 0) {
    findings.push_back(Warning("Other users of this machine may look into " + directory + ".",
                               "It holds the keys of the certificates.", "chmod 700 " + directory));
  }
  if (wrong.open.count > 0) {
    findings.push_back(
        Warning(wrong.open.Text("file has a mode by which other users may read it",
                                "files have a mode by which other users may read them"),
                "A copy of the directory shows orders and keys to everybody.",
                "chmod -R go= " + directory));
  }
  return findings;
}

// What makes the directory for the service. On its mount point, where its disk is away, that would
// be a second restaurant.
std::string MakeCommand(const Box& box) {
  const std::string& directory = box.options.data_directory;
  const std::string point = backups::UnmountedPoint(directory);
  if (!point.empty()) return "mount " + point;
  if (FindUnit(box)) return StartCommand(box);
  return "comanda import demo --data " + directory + "     # or a file of your own";
}

}  // namespace

Findings CheckFiles(const Box& box) {
  const std::string& directory = box.options.data_directory;
  struct stat found {};
  if (::stat(directory.c_str(), &found) != 0) {
    const int error = errno;
    if (error != ENOENT) {
      return {Warning(directory + " cannot be looked at: " + std::strerror(error) + ".",
                      "Most of what can be wrong was not looked at.",
                      "comanda doctor --data " + directory + "     # as root")};
    }
    return {Broken("There is no " + directory + ".",
                   "No restaurant was brought in yet, or its disk is not mounted.",
                   "findmnt -T " + directory + "\n" + MakeCommand(box))};
  }
  if (!S_ISDIR(found.st_mode)) {
    return {
        Broken(directory + " is no directory.", "The server cannot start.", "ls -ld " + directory)};
  }
  if (::access(directory.c_str(), R_OK | X_OK) != 0) {
    return {Warning("This user may not read " + directory + ".",
                    "Most of what can be wrong was not looked at.",
                    "comanda doctor --data " + directory + "     # as root")};
  }
  Findings findings = CheckOwners(box, found);
  if (auto finding = CheckFileSystem(directory)) findings.push_back(*std::move(finding));
  if (findings.empty())
    findings.push_back(Well("Owners and modes in " + directory + " are right."));
  return findings;
}

}  // namespace comanda::doctor
