#include "db/watcher.h"

#include "engine/connection.h"

namespace comanda::db {

Watcher::Watcher(const Settings& settings, const Clock& clock)
    : Watcher(std::make_unique<Connection>(settings, Connection::Role::kService, clock)) {}

Watcher::Watcher(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

Watcher::Watcher(Watcher&&) noexcept = default;
Watcher::~Watcher() = default;

bool Watcher::IsUsable() { return connection_->IsUsable(); }

Watcher::Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.BeginReading();
}

Watcher::Transaction::~Transaction() { connection_.Rollback(); }

}  // namespace comanda::db
