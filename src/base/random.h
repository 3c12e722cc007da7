#pragma once

// Random numbers from the system's generator, for everything in the product: keys, ids, public ids.
// Any thread.

#include <cstddef>
#include <cstdint>
#include <span>

namespace comanda {

// Fills the buffer by getrandom(2), which blocks only until the kernel has been seeded after boot.
// A failing generator ends the process (CHECK).
void FillRandom(std::span<uint8_t> out);

// A uniformly distributed number below `bound` (above 0), by rejection sampling.
uint64_t RandomBelow(uint64_t bound);

}  // namespace comanda
