#include "backups/place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string_view>

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

// Lines of /etc/fstab are: DEVICE POINT …, separated by blanks or tabs.
bool IsInTableOfMounts(const std::string& point) {
  const auto table = ReadFile("/etc/fstab");
  if (!table) return false;
  for (size_t at = table->find(point); at != table->npos; at = table->find(point, at + 1)) {
    const size_t line = table->rfind('\n', at) + 1;
    const std::string_view before = std::string_view(*table).substr(line, at - line);
    const size_t device = before.find_first_of(" \t");
    const bool is_second = device != before.npos && device > 0 && before.front() != '#' &&
                           before.find_first_not_of(" \t", device) == before.npos;
    const size_t end = at + point.size();
    if (is_second && end < table->size() && ((*table)[end] == ' ' || (*table)[end] == '\t')) {
      return true;
    }
  }
  return false;
}

bool IsMounted(const std::string& point) {
  struct stat own = {};
  struct stat above = {};
  return ::stat(point.c_str(), &own) == 0 && ::stat(DirectoryOf(point).c_str(), &above) == 0 &&
         own.st_dev != above.st_dev;
}

// True for /mnt/DISK, /media/DISK, /media/USER/DISK and /run/media/USER/DISK.
bool StandsWhereDisksAreMounted(const std::string& path) {
  const std::string above = DirectoryOf(path);
  return above == "/mnt" || above == "/media" || DirectoryOf(above) == "/media" ||
         DirectoryOf(above) == "/run/media";
}

}  // namespace

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

std::string UnmountedPoint(const std::string& path) {
  // The second kind is a guess: /media/usb/backups has the form of /media/USER/DISK, and is a
  // directory of the disk that is mounted on /media/usb.
  std::string guessed;
  for (std::string above = ResolvedAbove(path); above.size() > 1; above = DirectoryOf(above)) {
    const bool is_in_table = IsInTableOfMounts(above);
    if (!is_in_table && !StandsWhereDisksAreMounted(above)) continue;
    if (IsMounted(above)) return "";
    if (is_in_table) return above;
    if (guessed.empty()) guessed = above;
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

}  // namespace comanda::backups
