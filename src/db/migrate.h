#pragma once

// Takes a database file to the program's schema, one numbered migration after the other, each in a
// transaction of its own with the number it leads to (user_version). Before each a copy of the file
// is taken to "<path>.before-<number>", but for a file that is new.

#include <string>
#include <vector>

#include "db/connection.h"
#include "db/database.h"

namespace comanda::db {

// On the writer's connection, before anybody else uses the file. Fault where the file is another
// program's, newer than this one, or a migration fails; the file is then as the last one that
// succeeded left it.
void Migrate(Connection& writer, const Settings& settings);

}  // namespace comanda::db
