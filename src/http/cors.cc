#include "http/cors.h"

#include <algorithm>

#include "base/text.h"
#include "http/vary.h"

namespace comanda::http {
namespace {

constexpr std::string_view kRequestHeaders =
    "Authorization, X-API-Key, Comanda-Occurred-At, Content-Type, Idempotency-Key, If-Match, "
    "If-None-Match, Prefer, X-Request-Id";
constexpr std::string_view kAnswerHeaders =
    "API-Version, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, "
    "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Damaged-Rows, "
    "X-Event-Cursor, X-Request-Id, X-Snapshot";
constexpr std::string_view kAskedAgainAfterS = "600";

}  // namespace

void AddCors(const wire::Request& request, std::span<const std::string> origins,
             std::string_view allowed, wire::Response& response) {
  if (origins.empty()) return;
  AddVary(response, "Origin");
  const auto origin = request.Header("Origin");
  if (!origin || std::ranges::find(origins, AsciiLower(*origin)) == origins.end()) return;

  response.headers.emplace_back("Access-Control-Allow-Origin", *origin);
  if (allowed.empty()) {
    response.headers.emplace_back("Access-Control-Expose-Headers", kAnswerHeaders);
    return;
  }
  response.headers.emplace_back("Access-Control-Allow-Methods", allowed);
  response.headers.emplace_back("Access-Control-Allow-Headers", kRequestHeaders);
  response.headers.emplace_back("Access-Control-Max-Age", kAskedAgainAfterS);
}

}  // namespace comanda::http
