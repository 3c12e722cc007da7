#pragma once

// The backup that the command line names, for `comanda restore` and `comanda drill`.

#include <cstdint>
#include <string>

#include "app/arguments.h"

namespace comanda::app {

inline constexpr Flag kPassphraseFlag = {"passphrase-file", "FILE",
                                         "of a sealed backup: the file with its passphrase"};

// The newest schema that this program can open.
int64_t SchemaKnown();

// The passphrase in the file that the flag names. Empty for a backup that is not sealed. Refusal
// where a sealed one has no such file.
std::string PassphraseFor(const std::string& backup, const Arguments& arguments);

// Of a file; 0 where there is none.
int64_t SizeOf(const std::string& path);

// "/a//" is "/a".
std::string WithoutSlash(std::string path);

}  // namespace comanda::app
