#pragma once

// What a command says to the person in front of it. Control characters and their like are escaped
// in all of it but its line ends (base/text.h, VisibleLines). What came from a client, a file or a
// server goes through Visible() before it becomes part of a line, so that it cannot end the line.

#include <string_view>

namespace comanda::app {

void Print(std::string_view text);       // stdout
void PrintError(std::string_view text);  // stderr, "comanda: …" and a line end

}  // namespace comanda::app
