#pragma once

// Upgrades a database file to the schema of this program. All missing migrations run in one
// transaction, which also sets the schema's number (user_version): whenever an upgrade is
// interrupted, the file has either the old schema or the new one.
//
// Before the upgrade of an existing file, a copy is made (db/upgrade_copies.h), with which
// the owner can return to the old program. The copy is optional: if the disk has too little space
// for it besides the space reserved for orders, the upgrade continues without it. If the disk
// becomes full, the upgrade uses the ballast (db/disk_space.h). The upgrade of a guest, the
// sandbox, does not begin if it would make the disk too full for the live database.

#include <cstdint>
#include <string>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "engine/connection.h"
#include "db/settings.h"

namespace comanda::db {

// The application_id in the header of the file.
inline constexpr int64_t kInUseId = 0x434d4441;   // "CMDA"
inline constexpr int64_t kBackupId = 0x434d4442;  // "CMDB": a backup that no server has opened yet

// Runs the missing migrations on the writer's connection, before any other connection opens the
// file. True if there were any: the connection has then the settings of an upgrade, and the log is
// not yet checkpointed; the caller must close it, which does that. Fault if the file belongs to
// another program or a newer version, or if a migration fails; the file is then unchanged. Blocks
// for the time of the upgrade and beats the heartbeat meanwhile.
bool Migrate(Connection& writer, const Settings& settings, const Clock& clock,
             Heartbeat& heartbeat);

// What is said of a file whose schema this program does not know.
std::string OfNewerProgram(const std::string& path, int64_t found, int64_t known);

}  // namespace comanda::db
