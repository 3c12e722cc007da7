#pragma once

// The passphrase of sealed backups, as commands get it.

#include <optional>
#include <string>

#include "commands/arguments.h"
#include "config/options.h"

namespace comanda::commands {

inline constexpr Flag kPassphraseFlag = {
    "passphrase-file", "FILE",
    "its first line is a sealed backup's passphrase (default: backup_passphrase_file)"};

// The passphrase that the flag or else the setting names; empty if neither does. Refusal if the
// file cannot be used.
std::string FindPassphrase(const config::Options& options, const Arguments& arguments);

// The same for a sealed backup: Refusal if neither is given.
std::string PassphraseFor(const std::string& backup, const config::Options& options,
                          const Arguments& arguments);

}  // namespace comanda::commands
