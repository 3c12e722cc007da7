#pragma once

// The system's random source, for everything in the product (ids, keys, public ids).

#include <cstddef>
#include <cstdint>
#include <span>

namespace comanda {

// Fills from getrandom(2). A source that fails ends the process.
void FillRandom(std::span<uint8_t> out);

// Uniform in [0, bound), bound above 0, by rejection.
uint64_t RandomBelow(uint64_t bound);

}  // namespace comanda
