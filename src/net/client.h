#pragma once

// HTTP calls through libcurl, with a deadline and a size cap. The only room that includes curl.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace comanda::net {

struct Call {
  std::string method = "GET";
  std::string url;
  std::string unix_socket;  // a path: connect there instead of to the URL's host
  std::string
      ca_file;  // PEM, the authorities to trust; empty: none, so that no https call succeeds
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  int64_t timeout_ms = 10'000;
  size_t answer_bytes_max = 16 * 1024 * 1024;
};

// How the connection of a call was secured; empty for plain http.
struct Security {
  std::string tls_version;  // "TLSv1.3"
  std::optional<UtcMs> certificate_ends_at;
};

struct Answer {
  int status = 0;                                            // 0: no answer came; `error` says why
  std::vector<std::pair<std::string, std::string>> headers;  // as they came, in order
  std::string body;
  std::string error;
  Security security;

  // The first header of that name, in any case.
  std::optional<std::string_view> Header(std::string_view name) const;
};

// Calls to one server over a connection that is kept open between them. One thread at a time.
class Session {
 public:
  Session();
  ~Session();

  // Never throws. Follows no redirect, uses no proxy, sends no credentials of its own.
  Answer Send(const Call& call);

 private:
  struct Handle;  // client.cc
  std::unique_ptr<Handle> handle_;
};

// One call on a connection of its own.
Answer Send(const Call& call);

// The file of the machine's own authorities, where it has one at a usual place.
std::optional<std::string> FindSystemAuthorities();

// The versions of libcurl and c-ares that are linked in.
std::string LibraryVersion();
std::string ResolverVersion();

}  // namespace comanda::net
