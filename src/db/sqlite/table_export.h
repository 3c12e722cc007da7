#pragma once

// All rows of a database, in the form in which PostgreSQL takes them (db/export_manifest.h).

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "db/export_manifest.h"
#include "db/session.h"

namespace comanda::db {

// Appends a text as COPY reads it. Pure.
void AppendForCopy(std::string& out, std::string_view text);

// Writes a file for each table of `path` into DIRECTORY/SCHEMA, which is there and empty, and syncs
// it. All of them are of one committed state, which `look` is shown first; a server may write to
// the database meanwhile. Holds one row in memory. Refusal where the schema is not `schema_known`;
// Fault where the files cannot be written, and kDamaged, with the table and the row, where the
// database holds what cannot be read, or what no PostgreSQL takes. What `look` throws ends it.
std::vector<ExportedTable> ExportTables(const std::string& path, const std::string& directory,
                                        const std::string& schema, int64_t schema_known,
                                        const Clock& clock,
                                        const std::function<void(Session& session)>& look);

}  // namespace comanda::db
