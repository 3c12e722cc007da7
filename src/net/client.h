#pragma once

// One HTTP call through libcurl, with a deadline and a size cap. The only room that includes curl.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda::net {

struct Call {
  std::string method = "GET";
  std::string url;
  std::string unix_socket;  // a path: connect there instead of to the URL's host
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  int64_t timeout_ms = 10'000;
  size_t answer_bytes_max = 16 * 1024 * 1024;
};

struct Answer {
  int status = 0;  // 0: no answer came; `error` says why
  std::string body;
  std::string error;
};

// Never throws. Follows no redirect, uses no proxy, sends no credentials of its own.
Answer Send(const Call& call);

// The versions of libcurl and c-ares that are linked in.
std::string LibraryVersion();
std::string ResolverVersion();

}  // namespace comanda::net
