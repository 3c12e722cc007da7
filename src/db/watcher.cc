#include "db/watcher.h"

#include "db/sqlite/connection.h"
#include "db/integrity.h"

namespace comanda::db {

Watcher::Watcher(const std::string& path, const Clock& clock, const std::string& vfs,
                 Sharing sharing)
    : connection_(
          std::make_unique<Connection>(path, Connection::Role::kService, vfs, clock, sharing)) {}

Watcher::Watcher(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

Watcher Watcher::OfFrozen(const std::string& path, const Clock& clock) {
  return Watcher(std::make_unique<Connection>(path, Connection::Role::kFrozen, "", clock));
}

Watcher::~Watcher() = default;

Watcher::Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.ClearTrouble();
  connection_.Execute("BEGIN");
}

Watcher::Transaction::~Transaction() { connection_.Rollback(); }

int64_t Watcher::SchemaVersion() { return connection_->Integer("PRAGMA user_version"); }

std::string Watcher::IntegrityCheck() { return IntegrityOfAll(*connection_); }

}  // namespace comanda::db
