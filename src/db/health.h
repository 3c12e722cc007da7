#pragma once

#include <cstddef>
#include <string>

namespace comanda::db {

// What /readyz says of a database.
struct Health {
  bool writable = true;  // reads may go on where it is not
  std::string reason;    // why not
};

}  // namespace comanda::db
