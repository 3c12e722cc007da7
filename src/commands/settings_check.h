#pragma once

// What `comanda config --check` looks at beside the settings themselves, by program: sqlite/ or
// postgresql/settings_check.cc.

#include <vector>

#include "config/options.h"

namespace comanda::commands {

// Refusal for a file that a change names or the server does not start without; of the others it is
// said what to do: they do not hinder another change, or an upgrade.
void JudgeFiles(const config::Options& options, const std::vector<config::Change>& changes);

// Refusal where the program cannot use a database that is there. One that is not there yet is made
// at the start.
void CheckDatabases(const config::Options& options);

}  // namespace comanda::commands
