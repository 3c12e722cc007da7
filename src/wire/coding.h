#pragma once

// Content coding: gzip, for clients that prefer it (RFC 9110 sections 8.4 and 12.5.3).

#include <cstddef>
#include <string_view>

#include "wire/response.h"

namespace comanda::wire {

// True if Accept-Encoding prefers gzip over identity. Malformed members are ignored. A client that
// refuses both gets identity where there is no other form: a 406 would help nobody.
bool PrefersGzip(std::string_view accept_encoding);

// Smaller bodies are not compressed: with their head they fit into one packet anyway.
inline constexpr size_t kGzipBytesMin = 1'024;

// Compresses the body. The response must not have a strong tag: each form of the bytes would need a
// tag of its own (RFC 9110 section 8.8.3). Throws std::bad_alloc, and changes nothing then.
void Compress(Response& response);

}  // namespace comanda::wire
