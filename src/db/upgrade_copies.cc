#include "db/upgrade_copies.h"

#include "base/file.h"
#include "base/log.h"

#include <sys/stat.h>
#include <unistd.h>

namespace comanda::db {
namespace {

constexpr std::string_view kMark = ".before-";

UtcMs ChangedAt(const struct stat& found) { return found.st_mtim.tv_sec * UtcMs{1000}; }

}  // namespace

std::string UpgradeCopyPath(const std::string& path, int version) {
  return path + std::string(kMark) + std::to_string(version);
}

bool DeleteUpgradeCopies(const std::string& directory, std::string_view file, UtcMs taken_before) {
  const auto names = FilesIn(directory);
  if (!names) return false;
  bool deleted = false;
  for (const std::string& name : *names) {
    const size_t mark = name.find(kMark);
    if (mark == name.npos || (file != "*" && name.substr(0, mark) != file)) continue;
    const std::string path = directory + "/" + name;
    struct stat found = {};
    if (::lstat(path.c_str(), &found) != 0) continue;
    if (ChangedAt(found) >= taken_before || ::unlink(path.c_str()) != 0) continue;
    log::Notice("deleted the copy from before an upgrade",
                {{"file", name}, {"mib", found.st_size / (1024 * 1024)}});
    deleted = true;
  }
  return deleted;
}

}  // namespace comanda::db
