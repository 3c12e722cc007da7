#pragma once

// Reads a database file beside the process that serves it, also one that nobody serves, and has
// SQLite check it. Used by one thread at a time.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/settings.h"
#include "db/sqlite/self_check.h"
#include "db/watcher.h"

namespace comanda::db {

class FileWatcher : public Watcher {
 public:
  // Fault where the file cannot be opened.
  FileWatcher(const std::string& path, const Clock& clock, const std::string& vfs = "",
              Sharing sharing = Sharing::kShared);
  // Of a database that this process serves.
  FileWatcher(const Settings& settings, const Clock& clock)
      : FileWatcher(settings.path, clock, settings.vfs) {}
  // The same for a file that nobody writes, such as a backup: nothing beside it is read, made or
  // changed, also on a disk that is read-only.
  static FileWatcher OfFrozen(const std::string& path, const Clock& clock);
  // The same, and a statement that takes longer than Connection::kGlanceMaxMs ends with Fault
  // kUnavailable.
  static FileWatcher OfStill(const std::string& path, const Clock& clock);
  FileWatcher(FileWatcher&&) noexcept = default;

  // From now on `ends` is called every few hundred microseconds while a statement runs, which ends
  // with Fault kUnavailable where it returns true. It must not throw.
  void EndWhen(std::function<bool()> ends);

  // Like Read(), these throw Fault where the file cannot be read.
  //
  // PRAGMA user_version: which migration the file is of.
  int64_t SchemaVersion();
  // The names of the tables, sorted.
  std::vector<std::string> Tables();
  // db/sqlite/self_check.h
  SelfCheck CheckTable(const std::string& table);
  SelfCheck CheckPagesOfTable(const std::string& table);
  SelfCheck CheckFile();
  SelfCheck CheckPages();

 private:
  using Watcher::Watcher;
  std::unique_ptr<std::function<bool()>> ends_;  // at an address that SQLite keeps
};

}  // namespace comanda::db
