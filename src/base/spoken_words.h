#pragma once

// Bytes as words that people can read aloud and compare: proquints (D. S. Wilkerson, "A Proposal
// for Proquints"), five letters for two bytes. Pure; any thread.

#include <cstdint>
#include <span>
#include <string>

namespace comanda {

// "lusab babad" for 127.0.0.1. Of an odd number of bytes the last one is left out.
std::string SpokenWords(std::span<const uint8_t> bytes);

}  // namespace comanda
