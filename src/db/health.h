#pragma once

#include <string>

namespace comanda::db {

// Whether a database takes writes, for /readyz. Reads may go on where it does not.
struct Health {
  bool writable = true;
  std::string reason;  // why not
};

}  // namespace comanda::db
