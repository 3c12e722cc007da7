#pragma once

// Whether the tables of a file are sound, whatever its indexes are like. SQLite checks a table and
// its indexes together (db/sqlite/self_check.h), and some of its findings name no tree.

#include <string>

#include "base/time/clock.h"

namespace comanda::db {

// The first thing that is wrong with a table, in SQLite's words; empty where all tables are sound.
// Where it is not certain that a finding is about an index, it counts as one about the table.
// Blocks for as long as reading the tables takes. The file is in nobody's use and has no
// write-ahead log. Fault where it cannot be opened.
std::string FindDamagedTable(const std::string& path, const Clock& clock);

}  // namespace comanda::db
