#pragma once

// The strict check of a request's head (RFC 9112; contract section 19, Framing and limits). It sees
// the raw bytes before any lenient parser does. Pure: no socket, no settings.

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
// The largest body that any route takes (PUT /v1/menu/products); each has its own limit besides.
inline constexpr size_t kAnyBodyBytesMax = 8 * 1024 * 1024;
// Chunk extensions and trailers of one body, together.
inline constexpr size_t kChunkFramingBytesMax = 16 * 1024;
// Request line, header block and the line ends around them.
inline constexpr size_t kHeadBytesMax = kRequestLineBytesMax + kHeaderBytesMax + 1024;

// A head that was read; all views point into the text that was checked.
struct Head {
  Method method = Method::kGet;
  std::string_view target;  // as sent
  std::string_view path;    // without query, encoded as sent; empty: could not be read
  std::string_view query;   // without the question mark
  std::string_view
      host;  // of Host or of the absolute form, without port and brackets; may be empty
  std::vector<std::pair<std::string_view, std::string_view>> headers;  // values trimmed
  uint64_t length = 0;                                                 // Content-Length
  bool chunked = false;
  bool expects_continue = false;
  bool keeps_alive = true;  // what the client wishes
};

// Reads the whole head, the empty line that ends it included. Throws a Refusal that closes the
// connection; what was read before the mistake stays in `head`, so that the answer can name the
// path.
void CheckHead(std::string_view text, Head& head);

enum class Unfinished : uint8_t {
  kTooLarge,   // kHeadBytesMax bytes without an end
  kTimedOut,   // the client was too slow
  kMalformed,  // a control byte
};

// Why a head that never ended is refused.
Refusal RefuseUnfinished(std::string_view text, Unfinished reason);

}  // namespace comanda::wire
