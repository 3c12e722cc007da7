#pragma once

// gzip (RFC 1952) of whole texts, and CRC-32. Through libdeflate.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace comanda {

// The text as one gzip file. Throws std::bad_alloc.
std::string Gzip(std::string_view text);

// The text inside a file made by `gzip -n` or Gzip. Only for files that the program carries itself:
// a file that is cut or damaged is a broken invariant and ends the process.
std::string Gunzip(std::span<const uint8_t> file);

// CRC-32 (IEEE, reflected): "123456789" is 0xcbf43926.
uint32_t Crc32(std::string_view data);

// The version of libdeflate that is linked in.
std::string GzipVersion();

}  // namespace comanda
