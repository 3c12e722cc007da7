#pragma once

// Brings the schema of a database up to that of this program: all missing migrations in one
// transaction, which also writes the schema's number, so that whenever it is interrupted the
// database has either the old schema or the new one. Then what others may read of it is brought to
// the program's version (db/postgresql/published.h). On the writer's connection, behind the lock of
// the owner.

#include "base/heartbeat.h"
#include "db/settings.h"
#include "engine/connection.h"

namespace comanda::db {

// True if there were migrations. Fault if the database is of a newer version, or if a migration
// fails; the schema is then as it was. Blocks for the time of the upgrade and beats the heartbeat
// meanwhile.
bool Migrate(Connection& connection, const Settings& settings, Heartbeat& heartbeat);

// Compares what is there with what the migrations make (db/postgresql/catalogue.h), and logs each
// difference. Fault where one of them forbids serving.
void RequireCatalogue(Connection& connection, const Settings& settings);

}  // namespace comanda::db
