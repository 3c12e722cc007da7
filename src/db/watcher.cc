#include "db/watcher.h"

#include "db/connection.h"

namespace comanda::db {

Watcher::Watcher(const std::string& path, const Clock& clock, const std::string& vfs)
    : connection_(std::make_unique<Connection>(path, Connection::Role::kService, vfs, clock)) {}

Watcher::~Watcher() = default;

Watcher::Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.ClearTrouble();
  connection_.Execute("BEGIN");
}

Watcher::Transaction::~Transaction() { connection_.Rollback(); }

int64_t Watcher::SchemaVersion() { return connection_->Integer("PRAGMA user_version"); }

std::string Watcher::IntegrityCheck() {
  std::string problems;
  Session session(*connection_);
  try {
    static constexpr Sql kCheck =
        "SELECT integrity_check AS found FROM pragma_integrity_check LIMIT 20";
    for (auto rows = session.Query<kCheck>(); rows.Next();) {
      if (rows.View("found") != "ok") problems += rows.Text("found") + "\n";
    }
  } catch (const Fault& fault) {
    if (connection_->trouble() != Trouble::kDamaged) throw;
    problems += fault.cause + "\n";
  }
  return problems;
}

}  // namespace comanda::db
