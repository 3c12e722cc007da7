#pragma once

// Memory that is not needed for the moment goes back to the system: hundreds of threads keep what
// their busiest moment took, otherwise.

namespace comanda {

// Few pools of free memory for all threads, where the C library would make eight for each
// processor: under load the server is a third smaller, and no slower. Before the first thread
// begins.
void ShareHeap();

// This thread keeps no freed memory for itself, which nobody could take from it: hundreds of
// threads that once had much to do keep megabytes so. For the rest of its life.
void ShareFreedMemory();

// What lies on this thread's stack below its caller, as a deep call leaves it behind. Cheap enough
// for once a connection.
void GiveBackStack();

// What was freed and kept for later. For now and then: others wait for their memory meanwhile.
void GiveBackHeap();

}  // namespace comanda
