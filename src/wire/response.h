#pragma once

// An answer, before it is written as an HTTP/1.1 message (wire/response_writer.h). Plain data;
// throws nothing.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda::wire {

// The answer's Cache-Control.
enum class Cache : uint8_t {
  kPrivateNoCache,  // "private, no-cache": a client may store it, and must revalidate it each time
  kNoStore,         // "no-store": personal data, keys and errors
  kImmutable,       // "public, max-age=31536000, immutable": a file whose name changes with it
};

struct Response {
  int status = 200;
  std::string body;
  // The body of an answer that several clients get; used instead of `body` where it is set.
  std::shared_ptr<const std::string> shared_body;
  std::string_view content_type = "application/json";  // a literal; empty: no Content-Type
  std::string etag;      // with its quotes, and W/ where it is weak; empty: no ETag
  std::string location;  // empty: no Location
  std::vector<std::pair<std::string, std::string>> headers;  // all other header fields
  Cache cache = Cache::kPrivateNoCache;
  bool gzipped = false;           // the body is compressed, and Content-Encoding says so
  bool close_connection = false;  // the server closes the connection after this answer
  // Resources that are released when the answer was sent or its connection ended: the request's
  // permit (auth/gate.h) and its bytes in the budget of answers. A member behind the body, so that
  // its destructor runs while the body's memory is still allocated.
  std::shared_ptr<const void> held;

  const std::string& Body() const { return shared_body ? *shared_body : body; }
};

}  // namespace comanda::wire
