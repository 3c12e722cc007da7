#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/problem.h"

namespace comanda::db {

// What /readyz says of a database. A database that cannot be written is served all the same: reads
// and the answers to repeated requests need no write.
struct Health {
  bool writable = true;
  std::string reason;  // why not
};

// The standbys of a database server.
struct StandbyCounts {
  int all = 0;
  int in_sync = 0;     // commits wait for them
  int64_t lag_ms = 0;  // of the one that is furthest behind in replaying
};

// What a process knows of a database that another one serves: which term it is in, how many
// transactions were committed, and the history of the database server.
struct OwnerNote {
  std::string host;
  int64_t term = 0;
  int64_t commits = 0;
  std::string timeline;
  std::string server;  // HOST:PORT of the database server; empty where it is not connected
  // Of the server, where the owner sees them.
  std::optional<StandbyCounts> standbys = {};
};

// Thrown where a database cannot be opened because another process serves it: of an engine whose
// databases several processes can reach.
struct OwnedByAnother : Fault {
  explicit OwnedByAnother(OwnerNote owner)
      : Fault(Fault::Kind::kUnavailable, "another process serves the database, on " + owner.host +
                                             ", term " + std::to_string(owner.term)),
        note(std::move(owner)) {}
  OwnerNote note;
};

}  // namespace comanda::db
