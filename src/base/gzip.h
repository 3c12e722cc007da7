#pragma once

// gzip (RFC 1952) of complete texts, and CRC-32, by libdeflate. Any thread; each call allocates its
// own compressor.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace comanda {

// Compresses at the fastest level. Throws std::bad_alloc.
std::string Gzip(std::string_view text);
// Compresses at the level with the smallest result, which takes a hundred times as long: for what
// is compressed once. Throws std::bad_alloc.
std::string GzipSmallest(std::string_view text);

// Decompresses a file that is embedded in the program (made by Gzip or `gzip -n`). Not for input
// from outside: a truncated or damaged file fails a CHECK and ends the process.
std::string Gunzip(std::span<const uint8_t> file);

// Decompresses a file from outside. Nothing where it is no single, whole gzip member, or would be
// larger than `bytes_max`.
std::optional<std::string> GunzipAtMost(std::string_view file, size_t bytes_max);

// CRC-32 as in IEEE 802.3 and gzip (reflected): "123456789" gives 0xcbf43926. `before` is the CRC
// of what precedes the data.
uint32_t Crc32(std::string_view data, uint32_t before = 0);

// The version of libdeflate linked in.
std::string GzipVersion();

}  // namespace comanda
