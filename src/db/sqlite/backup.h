#pragma once

// Backups of a database. A backup is a checked copy of the file with another application_id in its
// header (db/sqlite/migrate.h). A server that opens a backup in the place of its database raises
// the epoch of the event logs (events/log.h), since clients know changes that the copy does not
// contain.

#include <string>

#include "base/time/clock.h"
#include "db/session.h"

namespace comanda::db {

// Writes the committed state of `source` to a new file of mode 0600 and renames it to `target`.
// Blocks until the file is complete and on disk; a server may write to the source meanwhile. Fault
// if the target cannot be written, or the source is damaged or no database of this program; an
// incomplete file may then remain next to the target.
void BackUp(const std::string& source, const std::string& target, const Clock& clock);

// True if the file has the application_id of a backup.
bool IsBackup(Session& session);

// Gives the file the application_id of a database in use.
void TakeUp(Tx& tx);

}  // namespace comanda::db
