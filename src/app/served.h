#pragma once

// DIR/served: what this data directory has served. With it a start tells a database that was lost
// from one that was never made, and a copy of a database, put in place by hand, from the database
// itself.
//
// A copy has another inode or another birth than the file that was served; one written over that
// file has fewer changes than were counted when the server last stopped or started. What is unlike
// the note is taken for a restored backup: that begins a new epoch of the event log, which costs
// each display one read.

#include <cstdint>
#include <optional>
#include <string>

namespace comanda::app {

struct Served {
  std::string file;     // inode and birth, opaque
  int64_t changes = 0;  // of the rows of all companies together; never falls in the life of a file
  bool operator==(const Served&) const = default;
};

// What is noted of a database ("live.db"). Nothing also where the note cannot be read.
std::optional<Served> FindServed(const std::string& data_directory, const std::string& database);
// Fault where it cannot be written.
void NoteServed(const std::string& data_directory, const std::string& database,
                const Served& served);

// The file as Served has it; empty where it cannot be looked at.
std::string FileIdentity(const std::string& path);

// Fault kDamaged where the directory has served and its `live.db` is missing or empty: that is no
// new restaurant.
void RefuseLostDatabase(const std::string& data_directory);

}  // namespace comanda::app
