#pragma once

#include <cstddef>
#include <string>

namespace comanda::db {

// What /readyz says of a database. A database that cannot be written is served all the same: reads
// and the answers to repeated requests need no write.
struct Health {
  bool writable = true;
  std::string reason;  // why not
};

}  // namespace comanda::db
