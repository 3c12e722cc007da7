#pragma once

// The output of commands. Control characters except line ends are escaped (base/text.h,
// VisibleLines). Text that comes from a client, a file or a server must go through Visible() before
// it becomes part of a line: otherwise it could contain a line end and forge further lines.

#include <string>
#include <string_view>

#include "base/problem.h"

namespace comanda::commands {

void Print(std::string_view text);       // to stdout
void PrintError(std::string_view text);  // to stderr, between "comanda: " and a line end

// Asks on the terminal. True for y or yes. Refusal invalid_parameter, which names --yes, if the
// input is no terminal.
bool AskYes(std::string_view question);

// A refusal as lines: its detail and, where there are several errors, one line for each. Its texts
// go through Visible(), so a refusal that is to have lines of its own has them in `errors`, without
// a field.
std::string Describe(const Refusal& refusal);

}  // namespace comanda::commands
