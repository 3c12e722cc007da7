#pragma once

// The tables of a database that is served, with their indexes, as the engine checks them.

#include <functional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/database.h"
#include "integrity/finding.h"

namespace comanda::integrity {

// What there is to check, by names for CheckTable(). SQLite: the tables, and the list of free
// pages. PostgreSQL: nothing, because the server checks the pages that it reads.
std::vector<std::string> PartsToCheck(const db::Database& database, const Clock& clock);

// What is wrong with a table and its indexes. An entry that cannot be read ends SQLite's check
// before it has named the index. Where all pages of the table and its indexes are sound, and so are
// its rows, that is a finding of an index whose `where` is the table: all its indexes are in doubt.
// `ends` is called every few hundred microseconds: where it returns true, the check ends with Fault
// kUnavailable.
Findings CheckTable(const db::Database& database, const Clock& clock, const std::string& table,
                    std::function<bool()> ends);

}  // namespace comanda::integrity
