#pragma once

// Content codings (RFC 9110 section 8.4 and 12.5.3): gzip for those who would rather have it, and
// only where a byte saved counts more than the work: lists, menus, reports and the feed.

#include <string_view>

#include "wire/response.h"

namespace comanda::wire {

// Would who sent this Accept-Encoding rather have gzip than the bytes as they are? What is
// malformed asks for nothing. Who refuses even the bytes as they are gets them where there is no
// other form: nobody is helped by a 406.
bool PrefersGzip(std::string_view accept_encoding);

// Fewer bytes than these fit into one packet with their head anyway.
inline constexpr size_t kGzipBytesMin = 1'024;

// The same answer, its body compressed. Not to be used where the tag is strong: each form of the
// bytes would need its own (RFC 9110 section 8.8.3).
Response Gzipped(Response plain);

}  // namespace comanda::wire
