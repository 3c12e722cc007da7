#pragma once

// A Response as the bytes of one HTTP/1.1 message, head and body in one buffer.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/response.h"

namespace comanda::http {

struct WireForm {
  bool omit_body = false;  // HEAD: the length is told, the body is not sent
  bool close = false;      // this is the last answer of the connection
  UtcMs now = 0;
};

void AppendResponse(std::string& out, const Response& response, const WireForm& form);

std::string_view ReasonPhrase(int status);

// "Fri, 20 Nov 2026 18:03:11 GMT" (RFC 9110 5.6.7).
std::string HttpDate(UtcMs instant);

}  // namespace comanda::http
