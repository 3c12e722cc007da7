#pragma once

// Looks whether a database file holds what was written to it, beside the process that serves it, or
// where nobody does. For `comanda verify`, backups and doctor.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "integrity/verification.h"

namespace comanda::integrity {

// Whether other processes may write the file meanwhile.
enum class FileState : uint8_t { kInUse, kFrozen };

// `schema_known` is the newest schema of this program (db/sqlite/migrate.h).

// Whether the file is of an older version of the program. Fault where it cannot be read.
bool IsOfAnOlderVersion(const std::string& path, FileState state, int64_t schema_known,
                        const Clock& clock);
// All orders and events of a file at full speed. Nothing where the file is of another version of
// the program. Fault where it cannot be read.
std::optional<Verification::Report> VerifyRows(const std::string& path, FileState state,
                                               int64_t schema_known, const Clock& clock);
// SQLite's own check of all pages and indexes alone, of a file of any version.
Verification::Report VerifyPages(const std::string& path, FileState state, const Clock& clock);
// Both. Fault also where the file is of another version. Rows that cannot be read for a page that
// is malformed are a finding.
Verification::Report VerifyDatabase(const std::string& path, FileState state, int64_t schema_known,
                                    const Clock& clock);

// As company::ZoneTroubles, of a file of any version of the program. Nothing where it cannot be
// read, which other checks report.
std::vector<std::string> ZoneTroubles(const std::string& path, FileState state, const Clock& clock);

}  // namespace comanda::integrity
