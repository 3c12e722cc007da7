#pragma once

// Reading gzip (RFC 1952 with the method deflate, RFC 1951), for the files that are part of the
// program.

#include <cstdint>
#include <span>
#include <string>

namespace comanda {

// What a file made by `gzip -n` holds. The file is ours: one that is not whole is a broken
// invariant.
std::string Gunzip(std::span<const uint8_t> file);

}  // namespace comanda
