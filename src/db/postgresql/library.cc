#include "engine/library.h"

#include <libpq-fe.h>

namespace comanda::db {

std::string LibraryName() { return "libpq"; }

std::string LibraryVersion() {
  const int version = PQlibVersion();
  return std::to_string(version / 10'000) + "." + std::to_string(version % 10'000);
}

}  // namespace comanda::db
