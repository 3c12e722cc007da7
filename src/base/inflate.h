#pragma once

// Reading gzip (RFC 1952), for the files that are part of the program. Through zlib.

#include <cstdint>
#include <span>
#include <string>

namespace comanda {

// What a file made by `gzip -n` holds. The file is ours: one that is not whole is a broken
// invariant.
std::string Gunzip(std::span<const uint8_t> file);

// The version of zlib that is linked in.
std::string ZlibVersion();

}  // namespace comanda
