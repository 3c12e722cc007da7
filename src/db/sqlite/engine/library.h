#pragma once

// The SQLite library that is linked in.

#include <string>

namespace comanda::db {

// "sqlite".
std::string LibraryName();
// The version as text and as a number (3053004).
std::string LibraryVersion();
int LibraryVersionNumber();

// Initialises the library once per process: limits its memory and connects its log to ours. Fault
// where it is older than 3.51.3, which can lose committed transactions. Any thread.
void RequireLibrary();

}  // namespace comanda::db
