#pragma once

// Makes an index again from the rows of its table.
//
// A new tree takes the place of the old one in the schema, and the pages of the old one stay unused
// in the file. REINDEX would free them with whatever they refer to, which in a damaged tree may be
// a page of another table.

#include <string>

#include "db/sqlite/connection.h"

namespace comanda::db {

// The connection can write, is outside a transaction, and is closed afterwards: its switches are
// changed. Other connections see the new tree with their next statement. Fault where the index
// cannot be made.
void RebuildIndex(Connection& connection, const std::string& index);

}  // namespace comanda::db
