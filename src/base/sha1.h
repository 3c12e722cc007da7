#pragma once

// SHA-1, for UUID version 5 alone (RFC 9562 5.5). It protects nothing here; what must resist an
// attacker uses crypto/hash.h.

#include <array>
#include <cstdint>
#include <string_view>

namespace comanda {

std::array<uint8_t, 20> Sha1(std::string_view data);

}  // namespace comanda
