#include "db/sqlite/stacked_files.h"

#include <mutex>

namespace comanda::db {

std::string StackFilesOn(const std::string& below, const StackedFilesKind& kind) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  sqlite3_vfs* const found = sqlite3_vfs_find(below.empty() ? nullptr : below.c_str());
  if (!found) return below;
  const std::string name = kind.name + " over " + std::string(found->zName);
  if (sqlite3_vfs_find(name.c_str())) return name;
  auto* const system =
      new StackedFiles{.vfs = *found, .below = found, .name = name, .variant = kind.variant};
  system->vfs.szOsFile += kind.file_bytes;
  system->vfs.zName = system->name.c_str();
  system->vfs.pNext = nullptr;
  system->vfs.xOpen = kind.open;
  sqlite3_vfs_register(&system->vfs, 0);
  return name;
}

}  // namespace comanda::db
