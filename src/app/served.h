#pragma once

// The file DIR/served: a line for each database file that was in use in this data directory. At
// start the program compares it with the files that it finds, and so detects
//   - a database that was lost: the line exists, the file does not;
//   - a copy that was put in the place of the database by hand: a copied file has another inode or
//     birth time, and a file that was overwritten has fewer changes than the line says.
// A copy is treated as a restored backup: the epoch of the event logs is raised (events/log.h),
// after which each client reads its lists once more.

#include <cstdint>
#include <optional>
#include <string>

namespace comanda::app {

// The line of one database.
struct Served {
  std::string file;     // db::Database::Identity()
  int64_t changes = 0;  // events::TotalOfChanges(), which never decreases within one file
  bool operator==(const Served&) const = default;
};

// The line of a database ("live.db"). Nothing if there is none, or if DIR/served is damaged. Fault,
// with the command that corrects it, if this user may not read the file.
std::optional<Served> FindServed(const std::string& data_directory, const std::string& database);
// Writes the line, and blocks until it is on disk. Fault if it cannot be written.
void NoteServed(const std::string& data_directory, const std::string& database,
                const Served& served);

// Notes that a file takes the place of the database next which holds the same (`comanda verify
// --repair`): it is then no copy. To be called before it does, so that an interruption between the
// two is harmless. Fault if it cannot be written.
void NoteSuccessor(const std::string& data_directory, const std::string& database,
                   const Served& successor);
// Whether the file that is there now is the one that was in use, or its successor; nothing if none
// is noted. Fault as FindServed().
std::optional<bool> IsAsServed(const std::string& data_directory, const std::string& database,
                               const Served& now);

// Notes that devices trust the authority in DIR/tls. Fault where it cannot be written.
void NoteTrustedAuthority(const std::string& data_directory);
// Fault kDamaged if that is noted and DIR/tls is missing or holds none of its certificates and
// keys: devices would not trust a new authority.
void RefuseLostAuthority(const std::string& data_directory);

// Fault kDamaged if live.db is missing or empty although the directory was in use. Without this
// check the program would begin an empty database in its place.
void RefuseLostDatabase(const std::string& data_directory);

}  // namespace comanda::app
