#pragma once

// SHA-256, encodings of bytes as text, and the initialisation of mbedTLS. Any thread.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace comanda::crypto {

// Prepares state that all TLS connections of the process share. Must be called before the first
// connection in either direction; repeated calls do nothing.
void Initialise();

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(std::string_view data);
// RFC 2104.
Sha256Digest HmacSha256(std::string_view key, std::string_view data);
// Lower case.
std::string Hex(std::string_view bytes);
// RFC 4648 section 4, padded.
std::string Base64(std::span<const uint8_t> bytes);
// The same bytes in the form for URLs, without padding (section 5).
std::string Base64UrlOf(std::string_view base64);
// The bytes of a text in Base64(). Fault kDamaged where it is none, since it comes from a row.
std::string FromBase64(std::string_view text);
inline std::string Sha256Hex(std::string_view data) {
  const Sha256Digest digest = Sha256(data);
  return Hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// The version of mbedTLS linked in.
std::string LibraryVersion();

}  // namespace comanda::crypto
