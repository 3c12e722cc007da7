#pragma once

// What the commands share that make keys and pairing codes: the flags --name and --scopes.

#include <string>
#include <string_view>
#include <vector>

#include "commands/arguments.h"

namespace comanda::commands {

// The value of a flag that the command cannot do without. Refusal invalid_parameter if it is
// missing.
std::string RequireFlag(const Arguments& arguments, std::string_view command,
                        std::string_view flag);

// The scopes of --scopes S,S… as given; "all" stands for all of them, those that manage the box
// only if `with_managing`, and never orders:sync.
std::vector<std::string> ScopeList(std::string_view list, bool with_managing);

// The lines of --help for the scopes.
std::string DescribeScopes();

}  // namespace comanda::commands
