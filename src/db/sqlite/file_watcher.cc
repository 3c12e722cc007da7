#include "db/sqlite/file_watcher.h"

#include <sqlite3.h>

#include <utility>

#include "engine/connection.h"

namespace comanda::db {

FileWatcher::FileWatcher(const std::string& path, const Clock& clock, const std::string& vfs,
                         Sharing sharing)
    : Watcher(std::make_unique<Connection>(path, Connection::Role::kService, vfs, clock, sharing)) {
}

FileWatcher FileWatcher::OfFrozen(const std::string& path, const Clock& clock) {
  return FileWatcher(std::make_unique<Connection>(path, Connection::Role::kFrozen, "", clock));
}

FileWatcher FileWatcher::OfStill(const std::string& path, const Clock& clock) {
  return FileWatcher(std::make_unique<Connection>(path, Connection::Role::kStill, "", clock));
}

void FileWatcher::EndWhen(std::function<bool()> ends) {
  constexpr int kSteps = 10'000;  // well under a millisecond
  ends_ = std::make_unique<std::function<bool()>>(std::move(ends));
  const auto on_progress = [](void* asked) noexcept {
    return (*static_cast<std::function<bool()>*>(asked))() ? 1 : 0;
  };
  sqlite3_progress_handler(connection().handle(), kSteps, on_progress, ends_.get());
}

int64_t FileWatcher::SchemaVersion() { return connection().Integer("PRAGMA user_version"); }

std::vector<std::string> FileWatcher::Tables() {
  return Session(connection())
      .FindTexts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
}

SelfCheck FileWatcher::CheckTable(const std::string& table) {
  return db::CheckTable(connection(), table);
}

SelfCheck FileWatcher::CheckPagesOfTable(const std::string& table) {
  return db::CheckPagesOfTable(connection(), table);
}

SelfCheck FileWatcher::CheckFile() { return db::CheckFile(connection()); }

SelfCheck FileWatcher::CheckPages() { return db::CheckPages(connection()); }

}  // namespace comanda::db
