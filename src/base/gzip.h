#pragma once

// gzip (RFC 1952) of whole texts, and its checksum. Through libdeflate.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace comanda {

// The text as one gzip file, as small as the fastest way makes it.
std::string Gzip(std::string_view text);

// What a file made by `gzip -n` or Gzip holds. The file is ours: one that is not whole is a broken
// invariant.
std::string Gunzip(std::span<const uint8_t> file);

// CRC-32 (IEEE, reflected): "123456789" is 0xcbf43926.
uint32_t Crc32(std::string_view data);

// The version of libdeflate that is linked in.
std::string GzipVersion();

}  // namespace comanda
