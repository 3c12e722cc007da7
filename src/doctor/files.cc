#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "doctor/checks.h"
#include "doctor/unit.h"

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

// What does not belong to the owner of the directory.
struct Strange {
  int count = 0;
  std::string first;
};

void Look(const std::string& directory, uid_t owner, Strange& strange) {
  const auto look_at = [&](const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0 || found.st_uid == owner) return;
    if (strange.count++ == 0) strange.first = path;
  };
  for (const std::string& name : FilesIn(directory).value_or(std::vector<std::string>())) {
    // A log of a developer or a note beside the data hinders nothing.
    const bool is_ours = name.find(".db") != name.npos || name.starts_with("comanda.") ||
                         name.starts_with("ca.") || name.starts_with("server.") ||
                         name == "served" || name == "ballast" || name == "addresses";
    if (is_ours) look_at(directory + "/" + name);
  }
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
                   "findmnt -T " + directory + "\ncomanda import FILE --data " + directory)};
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
  Findings findings;
  Strange strange;
  Look(directory, found.st_uid, strange);
  Look(directory + "/tls", found.st_uid, strange);
  const std::string user = UserOf(box);
  if (found.st_uid == 0 && user != "root") {
    findings.push_back(Broken(directory + " belongs to root, and the service runs as " + user + ".",
                              "The server cannot write there.",
                              "chown -R " + user + ": " + directory));
  } else if (strange.count > 0) {
    findings.push_back(Broken(std::to_string(strange.count) +
                                  " files do not belong to the owner of " + directory +
                                  ", such as " + strange.first + ".",
                              "The server cannot start, or cannot write there.",
                              "chown -R --reference=" + directory + " " + directory));
  }
  if ((found.st_mode & 077) != 0) {
    findings.push_back(Warning("Other users of this machine may look into " + directory + ".",
                               "It holds the keys of the certificates.", "chmod 700 " + directory));
  }
  if (auto finding = CheckFileSystem(directory)) findings.push_back(*std::move(finding));
  if (findings.empty())
    findings.push_back(Well("Owners and modes in " + directory + " are right."));
  return findings;
}

}  // namespace comanda::doctor
