#include "db/watcher.h"

#include <sqlite3.h>

#include "db/sqlite/connection.h"

namespace comanda::db {

Watcher::Watcher(const std::string& path, const Clock& clock, const std::string& vfs,
                 Sharing sharing)
    : connection_(
          std::make_unique<Connection>(path, Connection::Role::kService, vfs, clock, sharing)) {}

Watcher::Watcher(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

Watcher Watcher::OfFrozen(const std::string& path, const Clock& clock) {
  return Watcher(std::make_unique<Connection>(path, Connection::Role::kFrozen, "", clock));
}

Watcher Watcher::OfStill(const std::string& path, const Clock& clock) {
  return Watcher(std::make_unique<Connection>(path, Connection::Role::kStill, "", clock));
}

Watcher::Watcher(Watcher&&) noexcept = default;
Watcher::~Watcher() = default;

Watcher::Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.ClearTrouble();
  connection_.Execute("BEGIN");
}

Watcher::Transaction::~Transaction() { connection_.Rollback(); }

void Watcher::EndWhen(std::function<bool()> ends) {
  constexpr int kSteps = 10'000;  // well under a millisecond
  ends_ = std::make_unique<std::function<bool()>>(std::move(ends));
  const auto on_progress = [](void* asked) noexcept {
    return (*static_cast<std::function<bool()>*>(asked))() ? 1 : 0;
  };
  sqlite3_progress_handler(connection_->handle(), kSteps, on_progress, ends_.get());
}

int64_t Watcher::SchemaVersion() { return connection_->Integer("PRAGMA user_version"); }

std::vector<std::string> Watcher::Tables() {
  return Session(*connection_)
      .FindTexts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
}

SelfCheck Watcher::CheckTable(const std::string& table) {
  return db::CheckTable(*connection_, table);
}

SelfCheck Watcher::CheckPagesOfTable(const std::string& table) {
  return db::CheckPagesOfTable(*connection_, table);
}

SelfCheck Watcher::CheckFile() { return db::CheckFile(*connection_); }

SelfCheck Watcher::CheckPages() { return db::CheckPages(*connection_); }

}  // namespace comanda::db
