#include "http/response.h"

#include <utility>

#include "crypto/hash.h"

namespace comanda::http {

Response Data(std::string_view json, int status) {
  Response response;
  response.status = status;
  response.body.reserve(json.size() + 10);
  response.body += R"({"data":)";
  response.body += json;
  response.body += '}';
  return response;
}

Response Uncached(Response response) {
  response.cache = Cache::kNoStore;
  return response;
}

Response ShownOnce(std::string_view json, std::string_view json_for_replay, int status) {
  Response response = Data(json, status);
  response.replay_body = Data(json_for_replay).body;
  return Uncached(std::move(response));
}

Response NotModified(std::string etag) {
  Response response;
  response.status = 304;
  response.etag = std::move(etag);
  return response;
}

std::string BodyTag(std::string_view body) {
  constexpr size_t kDigits = 16;
  return "W/\"" + crypto::Sha256Hex(body).substr(0, kDigits) + "\"";
}

}  // namespace comanda::http
