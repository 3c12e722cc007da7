#include "db/sqlite/backup.h"

#include <unistd.h>

#include "engine/connection.h"
#include "db/sqlite/migrate.h"
#include "db/read_only.h"
#include "db/sqlite/self_check.h"

namespace comanda::db {
namespace {

// Fault if the file is no database of this program. SQLite takes an empty file for a database: its
// copy must not replace an older backup.
void RequireOurs(Connection& source, const std::string& path) {
  const int64_t id = source.Integer("PRAGMA application_id");
  if (id == kInUseId || id == kBackupId) return;
  throw Fault(Fault::Kind::kDamaged, path + " is empty, or the database of another program");
}

void MarkAndCheck(const std::string& copy, const std::string& source, const Clock& clock) {
  {
    Connection connection(copy, Connection::Role::kCopy, "", clock);
    connection.RunScript("PRAGMA application_id = " + std::to_string(kBackupId));
    const SelfCheck found = CheckFile(connection);
    if (!found.is_sound()) {
      throw Fault(Fault::Kind::kDamaged, source + " is damaged (" + found.first() + ")");
    }
  }
  // Closing a connection reports no error if its last checkpoint fails. The log then remains.
  if (::access((copy + "-wal").c_str(), F_OK) == 0) {
    throw Fault(Fault::Kind::kUnavailable, "cannot write " + copy + " to its end");
  }
}

}  // namespace

void BackUp(const std::string& source, const std::string& target, const Clock& clock) {
  const std::string unfinished = target + ".unfinished";
  {
    const Onlooker onlooker(source);
    Connection connection(source, Connection::Role::kService, "", clock, onlooker.sharing());
    RequireOurs(connection, source);
    // One snapshot, however many steps the copy takes.
    connection.RunScript("BEGIN; SELECT count(*) FROM sqlite_schema");
    // What is written stays little: else the next commit of a till waits until the disk has all of
    // it.
    CopyInto(connection, unfinished, "", [&] { SyncPath(unfinished); });
    connection.RunScript("COMMIT");
    onlooker.RequireStill();
  }
  MarkAndCheck(unfinished, source, clock);
  PutInPlace(unfinished, target);
}

bool IsBackup(Session& session) { return session.GetInt("PRAGMA application_id") == kBackupId; }

void TakeUp(Tx& tx) {
  static_assert(kInUseId == 0x434d4441);
  tx.Run("PRAGMA application_id = 0x434d4441");
}

}  // namespace comanda::db
