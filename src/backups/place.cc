#include "backups/place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "backups/mount_table.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"

namespace comanda::backups {
namespace {

std::optional<std::string> Resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  if (!real) return std::nullopt;
  return std::string(real.get());
}

bool IsMounted(const std::string& point) {
  struct stat own = {};
  struct stat above = {};
  return ::stat(point.c_str(), &own) == 0 && ::stat(DirectoryOf(point).c_str(), &above) == 0 &&
         own.st_dev != above.st_dev;
}

// What is mounted there is then not known.
bool MayNotLookAt(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) != 0 && errno == EACCES;
}

// True for /mnt/DISK, /media/DISK, /media/USER/DISK and /run/media/USER/DISK.
bool StandsWhereDisksAreMounted(const std::string& path) {
  const std::string above = DirectoryOf(path);
  return above == "/mnt" || above == "/media" || DirectoryOf(above) == "/media" ||
         DirectoryOf(above) == "/run/media";
}

}  // namespace

bool IsInTableOfMounts(const std::string& point) {
  try {
    const std::vector<MountLine> lines = MountLines(ReadFile(kMountTable).value_or(""));
    return std::ranges::find(lines, point, &MountLine::point) != lines.end();
  } catch (const Fault&) {  // one with passwords in it is for root to read
    return false;
  }
}

std::string ResolvedAbove(std::string path) {
  while (true) {
    if (auto real = Resolved(path)) return *std::move(real);
    const std::string above = DirectoryOf(path);
    if (above == path) return path;
    path = above;
  }
}

bool LiesInside(const std::string& path, const std::string& directory) {
  const std::string inner = ResolvedAbove(path) + "/";
  return inner.starts_with(ResolvedAbove(directory) + "/");
}

std::string MountPointOf(const std::string& path) {
  std::string above = ResolvedAbove(path);
  while (above.size() > 1 && !IsMounted(above)) above = DirectoryOf(above);
  return above;
}

std::string UnmountedPoint(const std::string& path) {
  if (MayNotLookAt(path)) return "";
  // The second kind is a guess: /media/usb/backups has the form of /media/USER/DISK, and is a
  // directory of the disk that is mounted on /media/usb; so is /mnt/backups of one on /mnt.
  std::string guessed;
  for (std::string above = ResolvedAbove(path); above.size() > 1; above = DirectoryOf(above)) {
    // /run is in memory, and no disk.
    if (IsMounted(above)) return above == "/run" ? guessed : "";
    if (IsInTableOfMounts(above)) return above;
    if (guessed.empty() && StandsWhereDisksAreMounted(above)) guessed = above;
  }
  return guessed;
}

std::string ScratchDirectory(const std::string& data_directory) {
  const char* const named = ::getenv("TMPDIR");
  for (const std::string& one :
       {data_directory, std::string(named ? named : ""), std::string("/var/tmp"),
        std::string("/tmp"), std::string("/dev/shm")}) {
    // A file without a name, which is gone when it is closed.
    if (!one.empty() && Fd(::open(one.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600))) return one;
  }
  throw Fault(Fault::Kind::kDiskReadOnly,
              "a sealed backup is opened or made in a directory of this machine, and neither " +
                  data_directory +
                  " nor a directory for temporary files can be written: name one in TMPDIR, or "
                  "make a backup that is not sealed (--plain)");
}

std::string UnmountedSince(const std::string& path, const std::string& former_point) {
  if (former_point.empty() || MayNotLookAt(path) || !LiesInside(path, former_point)) return "";
  return MountPointOf(path).size() < former_point.size() ? former_point : "";
}

}  // namespace comanda::backups
