#pragma once

namespace comanda::commands {

// The first Ctrl-C (or SIGTERM) lets a command end tidily; the second one ends the program at once.
void WatchForInterrupts();
// Whether one came since.
bool IsInterrupted();

}  // namespace comanda::commands
