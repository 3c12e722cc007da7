#pragma once

// A backup of a database: a copy that was checked and says in its header (application_id) that it
// is one. A server that takes it up again begins another life of the file: what was told after the
// copy was taken is not in it.

#include <string>

#include "base/clock.h"
#include "db/session.h"

namespace comanda::db {

// What is committed now, as a new file of mode 0600 in place of `target`, on disk and whole. The
// process that serves `source` goes on meanwhile. Fault where it cannot be written, where the
// source is damaged, or where it is none of ours; what is there of the copy may then stay.
void BackUp(const std::string& source, const std::string& target, const Clock& clock);

// Whether the file is a backup that nobody has taken up yet.
bool IsBackup(Session& session);

// It is the database in use from this transaction on.
void TakeUp(Tx& tx);

}  // namespace comanda::db
