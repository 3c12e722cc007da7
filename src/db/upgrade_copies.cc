#include "db/upgrade_copies.h"

#include "base/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

namespace comanda::db {
namespace {

constexpr std::string_view kMark = ".before-";

UtcMs ChangedAt(const struct stat& found) { return found.st_mtim.tv_sec * UtcMs{1000}; }

}  // namespace

std::string UpgradeCopyPath(const std::string& path, int version) {
  return path + std::string(kMark) + std::to_string(version);
}

bool DeleteUpgradeCopies(const std::string& directory, std::string_view file, UtcMs taken_before) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), &::closedir);
  if (!entries) return false;
  bool deleted = false;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    const size_t mark = name.find(kMark);
    if (mark == name.npos || (file != "*" && name.substr(0, mark) != file)) continue;
    struct stat found = {};
    const int at = ::dirfd(entries.get());
    if (::fstatat(at, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (ChangedAt(found) >= taken_before || ::unlinkat(at, entry->d_name, 0) != 0) continue;
    log::Notice("deleted the copy from before an upgrade",
                {{"file", name}, {"mib", found.st_size / (1024 * 1024)}});
    deleted = true;
  }
  return deleted;
}

}  // namespace comanda::db
