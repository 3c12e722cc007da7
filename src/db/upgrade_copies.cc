#include "db/upgrade_copies.h"

#include "base/file.h"
#include "base/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace comanda::db {
namespace {

constexpr std::string_view kMark = ".before-";
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::array<std::string_view, 2> kDatabases = {"live.db", "test.db"};

UtcMs ChangedAt(const struct stat& found) { return found.st_mtim.tv_sec * UtcMs{1000}; }

}  // namespace

std::string UpgradeCopyPath(const std::string& path, int version) {
  return path + std::string(kMark) + std::to_string(version);
}

// NAME.db.before-NUMBER, and what SQLite puts beside one that is being written.
bool IsUpgradeCopy(std::string_view name, std::string_view file) {
  for (const std::string_view end : {"-wal", "-shm", "-journal"}) {
    if (name.ends_with(".unfinished" + std::string(end))) name.remove_suffix(end.size());
  }
  if (name.ends_with(kUnfinished)) name.remove_suffix(kUnfinished.size());
  const size_t mark = name.rfind(kMark);
  if (mark == name.npos) return false;
  const std::string_view of = name.substr(0, mark);
  const std::string_view number = name.substr(mark + kMark.size());
  if (file == "*" ? std::ranges::find(kDatabases, of) == kDatabases.end() : of != file)
    return false;
  return !number.empty() && number.front() != '0' &&
         number.find_first_not_of("0123456789") == number.npos;
}

bool DeleteUpgradeCopies(const std::string& directory, std::string_view file, UtcMs taken_before) {
  const auto names = FilesIn(directory);
  if (!names) return false;
  bool deleted = false;
  for (const std::string& name : *names) {
    if (!IsUpgradeCopy(name, file)) continue;
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
