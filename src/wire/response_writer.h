#pragma once

// A Response as the bytes of one HTTP/1.1 message.

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "wire/response.h"

namespace comanda::wire {

struct WireForm {
  bool omit_body = false;  // HEAD: the length is told, the body is not sent
  bool close = false;      // this is the last answer of the connection
  UtcMs now = 0;
  std::string_view request_id;  // checked, or ours
  size_t bytes_max =
      std::numeric_limits<size_t>::max();  // appended; the head is whole whatever it is
};

// Appends the head and as much of the body as there is room for; what follows it is the rest of the
// body.
std::string_view AppendResponse(std::string& out, const Response& response, const WireForm& form);

std::string_view ReasonPhrase(int status);

// "Fri, 20 Nov 2026 18:03:11 GMT" (RFC 9110 5.6.7).
std::string HttpDate(UtcMs instant);

}  // namespace comanda::wire
