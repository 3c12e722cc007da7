#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda::wire {

enum class Cache : uint8_t {
  kPrivateNoCache,  // "private, no-cache": keep, but ask again
  kNoStore,         // clients, users, keys, errors
};

struct Response {
  int status = 200;
  std::string body;
  std::shared_ptr<const std::string> shared_body;  // instead of `body`: of an answer that many get
  std::string_view content_type = "application/json";  // a literal; empty: none
  std::string etag;                                    // with its quotes, W/ for weak; empty: none
  std::string location;                                // empty: none
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
  Cache cache = Cache::kPrivateNoCache;
  bool gzipped = false;  // the body is, and Content-Encoding says so
  bool close_connection = false;
  bool costs_nothing = false;  // a long poll that ends without news, beside every 304
  // What ends when the answer is out: its key's place under way and its bytes in the budget of
  // answers, so that a client that does not read cannot ask for more and more. Declared after the
  // body, so that it ends before the body's memory can be another's.
  std::shared_ptr<const void> held;
  // The body is {"data": <body of that event of the company>}: what is kept under an
  // Idempotency-Key points there instead of copying it.
  std::optional<int64_t> event_seq;
  // Where the answer shows a secret once: what is stored for a replay instead of `body`
  // (contract section 3); empty: the body itself.
  std::string replay_body;

  const std::string& Body() const { return shared_body ? *shared_body : body; }
};

// {"data": <json>}
Response Data(std::string_view json, int status = 200);
// 304 with the tag.
Response NotModified(std::string etag);
// A weak tag made of the bytes, for answers that have no better one (the dispatcher gives it to
// every 200 of a GET without a tag).
std::string BodyTag(std::string_view body);

}  // namespace comanda::wire
