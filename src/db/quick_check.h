#pragma once

// Whether a database file is damaged, as far as SQLite's quick_check sees.

#include <functional>
#include <string>

#include "base/clock.h"
#include "db/settings.h"

namespace comanda::db {

// What is wrong, a line each; empty where nothing is. On a connection of its own; may take long.
// `go_on` is asked now and then, and where it says no the answer is empty. Fault where the file
// cannot be checked.
std::string QuickCheck(const Settings& settings, const Clock& clock, std::function<bool()> go_on);

}  // namespace comanda::db
