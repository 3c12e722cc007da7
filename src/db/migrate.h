#pragma once

// Takes a database file to the program's schema. All migrations that it lacks go into one
// transaction, with the number they lead to (user_version): whatever ends an upgrade, the file is
// of the old program or of the new one.
//
// Before, a copy is taken (db/upgrade_copies.h), but for a file that is new. It is for going back
// to the old program and no condition: where the disk has no room for it beside the space that
// orders need, the upgrade goes on without. An upgrade that meets a full disk takes the ballast;
// that of a guest does not begin where the disk would become too full for the others.

#include "base/clock.h"
#include "base/heartbeat.h"
#include "db/connection.h"
#include "db/settings.h"

namespace comanda::db {

// Whose the file is, in its header (application_id).
inline constexpr int64_t kInUseId = 0x434d4441;   // "CMDA"
inline constexpr int64_t kBackupId = 0x434d4442;  // "CMDB": a backup that nobody took up yet

// On the writer's connection, before anybody else uses the file; true where there was something to
// do: the connection's settings have then served the upgrade, and its log is still to be written
// into the file, which closing does. Fault where the file is another program's, newer than this
// one, or a migration fails; the file is then as it was. Beats meanwhile.
bool Migrate(Connection& writer, const Settings& settings, const Clock& clock,
             Heartbeat& heartbeat);

}  // namespace comanda::db
