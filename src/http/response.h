#pragma once

// What a handler returns: the answer as it is sent (wire::Response), and what the steps after the
// handler have to know about it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/response.h"

namespace comanda::http {

using wire::Cache;

struct Response : wire::Response {
  // The request is given back to the key's rate limit, as it is for every 304: a poll that waited
  // and ends without news.
  bool costs_nothing = false;
  // The body is {"data": <body of that event of the company>}. The idempotency record then refers
  // to the event instead of storing the body.
  std::optional<int64_t> event_seq;
  // What the idempotency record stores instead of the body, where that shows a secret (contract
  // section 3). Empty: it stores the body.
  std::string replay_body;
};

// The body {"data": <json>}.
Response Data(std::string_view json, int status = 200);
// The same answer, kept by no cache: of endpoints that have to do with secrets.
Response Uncached(Response response);
// The only answer that shows a secret: `json` has it, `json_for_replay` has null in its place
// (contract section 3).
Response ShownOnce(std::string_view json, std::string_view json_for_replay, int status);
// 304 with that tag.
Response NotModified(std::string etag);
// A weak tag that is a hash of the body, for answers that have no better one.
std::string BodyTag(std::string_view body);

}  // namespace comanda::http
