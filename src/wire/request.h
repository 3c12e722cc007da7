#pragma once

// A request as it came over a connection: framed, split at its separators, still percent-encoded.
// The body is not part of it: wire::Exchange reads that when it is asked to. Plain data; throws
// nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda::wire {

// TRACE is recognised, so that it is refused with 405, and no route has it.
enum class Method : uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions, kTrace };
std::string_view Name(Method method);
// Case-sensitive, as RFC 9110 section 9.1 has it. Empty for an unknown method.
std::optional<Method> FindMethod(std::string_view name);
// Whether the method is GET, HEAD or OPTIONS, which change nothing ("safe", RFC 9110
// section 9.2.1).
bool IsRead(Method method);

struct Request {
  Method method = Method::kGet;
  std::string path;   // percent-encoded as sent, without the query
  std::string query;  // percent-encoded as sent, without the question mark
  // Names and values are views into the text of the head, which the exchange owns.
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  // Numeric; an IPv4-mapped IPv6 address is shown as IPv4. Of a request that came through a proxy:
  // the address that it tells (wire/forwarded.h).
  std::string client_address;
  std::string request_id;  // the client's X-Request-Id where it is valid, else one of ours
  // It came over the control socket, or was made in this process: the command line asks.
  bool local = false;

  // The value of the first header field of that name (names are case-insensitive).
  std::optional<std::string_view> Header(std::string_view name) const;
  // The values of all header fields of that name as one list (RFC 9110 section 5.3). Empty where
  // there are none.
  std::string Joined(std::string_view name) const;
};

}  // namespace comanda::wire
