#pragma once

// Repairs a database file whose indexes are malformed, unreadable or wrong, and whose tables are
// sound, without losing a row: a copy is made of the rows (db/sqlite/table_copy.h). For `comanda
// verify
// --repair`.

#include <cstdint>
#include <string>

#include "base/time/clock.h"
#include "integrity/finding.h"
#include "integrity/file_verification.h"

namespace comanda::integrity {

// Whether there is something among what VerifyPages() has found that a copy of the rows heals,
// where the tables are sound.
bool MayBeRepaired(const Findings& found);

// Where the copy of a database is until it is put in place, in the same directory.
std::string RepairedPath(const std::string& path);
// Deletes the copy that an interrupted repair has left. The caller owns the directory.
void RemoveUnfinishedRepair(const std::string& path);

// Writes the copy and checks it as VerifyDatabase() does; its pages and indexes are sound. Nothing
// is put in place; what the write-ahead log of `path` has is taken into the file. Refusal where a
// table is damaged. Fault where the disk fails, or another process has the file open. Where it
// throws, no copy is left.
Verification::Report MakeSoundCopy(const std::string& path, int64_t schema_known,
                                   const Clock& clock);

}  // namespace comanda::integrity
