#pragma once

// Writes a Response as one HTTP/1.1 message (RFC 9112). Pure functions; they throw std::bad_alloc
// at most.

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "wire/response.h"

namespace comanda::wire {

struct WireForm {
  bool omit_body = false;  // for HEAD: Content-Length is sent, the body is not
  bool close = false;      // the connection is closed after this answer
  UtcMs now = 0;
  std::string_view request_id;  // visible ASCII
  // The most bytes that AppendResponse() appends. The head is appended whole even if it has more.
  size_t bytes_max = std::numeric_limits<size_t>::max();
};

// Appends the head, and as much of the body as fits. Returns the rest of the body, a view into the
// response.
std::string_view AppendResponse(std::string& out, const Response& response, const WireForm& form);

// "Not Found" for 404; "Status" for one that is not in the table.
std::string_view ReasonPhrase(int status);

// "Fri, 20 Nov 2026 18:03:11 GMT" (RFC 9110 5.6.7).
std::string HttpDate(UtcMs instant);

}  // namespace comanda::wire
