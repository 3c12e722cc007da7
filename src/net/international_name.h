#pragma once

// Host names with letters beyond ASCII, as https://café.example: written with the letters that the
// name system has ("xn--caf-dma", RFC 5890), before the URL is judged, stored and called, so that
// all readers of it mean one host. Any thread.

#include <string>

namespace comanda::net {

// The URL with such labels of its host in that form. Unchanged where the host is ASCII, or has a
// character that is no letter of a common script or is not in composed form: ParseUrl() then
// refuses it.
std::string WithAsciiHost(const std::string& url);

}  // namespace comanda::net
