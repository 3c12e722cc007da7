#pragma once

// Who serves a database: one process, whichever machine it runs on. It holds an advisory lock of
// the database server on the connection that it writes through, and the table `owner` of the schema
// has one row with what only the owner changes:
//
//   term     how often the database was taken over; each owner has its own
//   commits  how many transactions were committed; a part of each of them
//   host     the machine of the owner, for people
//   timeline the history of the server that the owner writes to (ReadTimeline)
//
// Three things follow. An owner that lost its lock without knowing it cannot commit: its term is
// not in the row. Whether a commit whose answer was lost is done is read in the row. A database
// that went back has a smaller number than was acknowledged.
//
// On the writer's connection.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/health.h"
#include "db/session.h"
#include "db/settings.h"
#include "engine/connection.h"

namespace comanda::db {

// Makes the tables `owner` and `schema_version`, without rows, in the first schema of the
// search_path.
void CreateOwnTables(Connection& connection);
// Makes the schema and these tables where they are missing. Fault where
// this user may not, or the schema is another program's.
void MakeOwnTables(Connection& connection, const Settings& settings);

// Whether they are there. On a connection of its own.
bool HasOwnTables(const Settings& settings, const Clock& clock);

// False where another process has the lock. It goes with the connection.
bool TryLock(Connection& connection, const Settings& settings);

// What an administrator runs in the database, so that of those who log in there only `user` may
// take the lock: by default everybody may, on the primary.
std::string LockRightsSql(std::string_view user);

// Whether a process has it. On any connection to the server.
bool IsLocked(Connection& connection, const Settings& settings);

struct Owner {
  int64_t term = 0;
  int64_t commits = 0;
  std::string host;
};
Owner ReadOwner(Connection& connection);

// Which history of the server this is: it becomes another one where a standby is promoted, or the
// server is restored to an earlier moment.
std::string ReadTimeline(Connection& connection);

// The timeline that the last owner wrote to; empty where it has not said so.
std::string ReadOwnersTimeline(Connection& connection);

// The next term, in a transaction of its own, on that timeline. Where it is empty, the former one
// stays in the row until NoteTimeline().
Owner BecomeOwner(Connection& connection, const std::string& timeline);
// Sends the timeline of an owner that has reconnected to another one, in its transaction.
void SendTimeline(Connection& connection, const std::string& timeline);
// The same in a job: what follows from the new timeline is done, in that transaction.
void NoteTimeline(Tx& tx);

// Sends what makes a transaction the owner's, as its last statement: it fails in another term, and
// the server then refuses the COMMIT behind it.
void SendCommitNumber(Connection& connection, int64_t term, int64_t commits);
// Whether that is what has failed.
bool IsNotOwner(const Connection& connection);

// Who has the lock of that database now; nothing where nobody has. On a connection of its own.
std::optional<OwnerNote> FindOwner(const Settings& settings, const Clock& clock);

}  // namespace comanda::db
