#pragma once

// Memory that is not needed for the moment goes back to the system: hundreds of threads keep what
// their busiest moment took, otherwise.

namespace comanda {

// What lies on this thread's stack below its caller, as a deep call leaves it behind. Cheap enough
// for once a connection.
void GiveBackStack();

// What was freed and kept for later. For now and then: others wait for their memory meanwhile.
void GiveBackHeap();

}  // namespace comanda
