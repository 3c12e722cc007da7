#pragma once

// A strict reader of a request's head: request line and header fields (RFC 9112; contract section
// 19, Framing and limits). It reads the raw bytes before CivetWeb's lenient parser does, so that
// both cannot disagree about where a request ends. Pure functions: no socket, no settings.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "wire/request.h"

namespace comanda::wire {

inline constexpr size_t kRequestLineBytesMax = 8 * 1024;
inline constexpr size_t kHeaderBytesMax = 16 * 1024;
inline constexpr size_t kHeadersMax = 64;
// The largest body that any request may have. Each route has a limit of its own, which may be
// lower.
inline constexpr size_t kAnyBodyBytesMax = 8 * 1024 * 1024;
// Chunk extensions and trailers of one body, together.
inline constexpr size_t kChunkFramingBytesMax = 16 * 1024;
// Request line, header block and the line ends around them.
inline constexpr size_t kHeadBytesMax = kRequestLineBytesMax + kHeaderBytesMax + 1024;

// A head that was read. All views point into the text that it was read from.
struct Head {
  Method method = Method::kGet;
  std::string_view target;  // as sent
  std::string_view path;    // without query, percent-encoded as sent; empty: could not be read
  std::string_view query;   // without the question mark
  // From Host or from an absolute target, without port and brackets; may be empty.
  std::string_view host;
  std::vector<std::pair<std::string_view, std::string_view>> headers;  // values trimmed
  uint64_t length = 0;                                                 // Content-Length
  bool chunked = false;
  bool expects_continue = false;
  bool keeps_alive = true;  // the client wishes to use the connection again
};

// Whether the text is a token: methods and names of header fields are (RFC 9110 section 5.6.2).
bool IsToken(std::string_view text);

// Reads the whole head, to the empty line that ends it. Throws Refusal, which closes the
// connection: invalid_header, uri_too_long, headers_too_large, payload_too_large,
// expectation_failed, not_implemented, version_not_supported. What was read before the mistake
// stays in `head`, so that the answer can name the path.
void CheckHead(std::string_view text, Head& head);

enum class Unfinished : uint8_t {
  kTooLarge,   // it did not end within kHeadBytesMax bytes
  kTimedOut,   // it did not end within Timeouts::head_ms
  kMalformed,  // it contains a control byte
};

// The refusal of a head that did not end; it closes the connection.
Refusal RefuseUnfinished(std::string_view text, Unfinished reason);

}  // namespace comanda::wire
