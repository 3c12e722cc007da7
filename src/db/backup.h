#pragma once

// A backup of a database: a copy that was checked and says in its header (application_id) that it
// is one. A server that opens a backup in place of its database begins a new epoch of the event
// log: what was answered to clients after the copy was taken is not in it.

#include <string>

#include "base/clock.h"
#include "db/session.h"

namespace comanda::db {

// What is committed now, as a new file of mode 0600 in place of `target`, on disk and whole. The
// process that serves `source` goes on meanwhile. Fault where it cannot be written, where the
// source is damaged or not a database of this program; an unfinished copy may then be left.
void BackUp(const std::string& source, const std::string& target, const Clock& clock);

// Whether the file is still marked as a backup.
bool IsBackup(Session& session);

// Marks it as the database in use.
void TakeUp(Tx& tx);

}  // namespace comanda::db
