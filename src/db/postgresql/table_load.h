#pragma once

// Takes an export (db/export_manifest.h) into an empty database.

#include <cstdint>
#include <functional>
#include <string>

#include "base/time/clock.h"
#include "db/export_manifest.h"
#include "db/session.h"
#include "db/settings.h"

namespace comanda::db {

struct Loading {
  const Manifest& manifest;
  const std::string& directory;  // with the files
  const Settings& live;          // with the migrations
  const Settings& test;
  // Called with the rows of each schema in place, in the transaction that loads them.
  std::function<void(Tx& tx)> complete;
  // Of what is done, for people.
  std::function<void(const std::string& line)> progress;
};

// The databases of both schemas, for DIR/served.
struct LoadedSchema {
  std::string identity;
  int64_t commits = 0;
};
struct Loaded {
  LoadedSchema live, test;
  int64_t term = 0;
};

// Becomes the owner of the database, makes its tables where they are missing, and loads all files
// in one transaction, in which the rows, bytes and checksums of each are compared with the manifest
// and every constraint is checked. Whenever it is interrupted, the database is either as it was or
// whole. Memory: a piece of a file. Throws OwnedByAnother where a process serves the database;
// Refusal where it has companies already, or a file is not what was exported; Fault where the
// server fails.
Loaded LoadTables(const Loading& loading, const Clock& clock);

}  // namespace comanda::db
