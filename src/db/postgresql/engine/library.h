#pragma once

// The library that is linked in to reach the database.

#include <string>

namespace comanda::db {

// Its name and version, for `comanda-head version`.
std::string LibraryName();
std::string LibraryVersion();

}  // namespace comanda::db
