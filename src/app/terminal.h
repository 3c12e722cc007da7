#pragma once

// What a command says to the person in front of it.

#include <string_view>

namespace comanda::app {

void Print(std::string_view text);       // stdout, as it is
void PrintError(std::string_view text);  // stderr, "comanda: …" and a line end

}  // namespace comanda::app
