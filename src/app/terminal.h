#pragma once

// The output of commands. Control characters except line ends are escaped (base/text.h,
// VisibleLines). Text that comes from a client, a file or a server must go through Visible() before
// it becomes part of a line: otherwise it could contain a line end and forge further lines.

#include <string_view>

namespace comanda::app {

void Print(std::string_view text);       // to stdout
void PrintError(std::string_view text);  // to stderr, between "comanda: " and a line end

}  // namespace comanda::app
