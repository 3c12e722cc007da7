#pragma once

// SHA-256, text forms of bytes, and the start of the cryptographic library.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace comanda::crypto {

// Starts what all TLS connections of the process share: call before the first one, in either
// direction. Any thread, any number of times.
void Initialise();

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(std::string_view data);
std::string Hex(std::string_view bytes);             // lower case
std::string Base64(std::span<const uint8_t> bytes);  // RFC 4648 section 4, padded
inline std::string Sha256Hex(std::string_view data) {
  const Sha256Digest digest = Sha256(data);
  return Hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// The version of mbedTLS that is linked in.
std::string LibraryVersion();

}  // namespace comanda::crypto
