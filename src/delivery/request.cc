#include "delivery/request.h"

#include <algorithm>
#include <string_view>

#include "base/concat.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "json/reader.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

std::string FormOf(const CallTemplate& call, const Variables& variables) {
  std::string body;
  for (const auto& [name, text] : call.form) {
    body += Concat({body.empty() ? "" : "&", wire::PercentEncoded(name), "=",
                    wire::PercentEncoded(Expand(text, variables, AsIs))});
  }
  return body;
}

std::string JsonOf(const CallTemplate& call, const Variables& variables) {
  if (!call.raw_json.empty()) return Expand(call.raw_json, variables, InJson);
  std::string body;
  for (const auto& [name, text] : call.json) {
    body += Concat({body.empty() ? "{" : ",", "\"", InJson(name), "\":\"",
                    Expand(text, variables, InJson), "\""});
  }
  return body.empty() ? body : body + "}";
}

// The parameters as they are signed: decoded, sorted by name.
std::string SortedQuery(std::string_view query) {
  std::vector<std::string> parameters;
  while (!query.empty()) {
    const std::string_view piece = TakePiece(query, '&');
    parameters.push_back(
        wire::PercentDecoded(piece, wire::PlusSign::kBlank).value_or(std::string(piece)));
  }
  std::ranges::stable_sort(parameters, {}, [](const std::string& parameter) {
    return parameter.substr(0, parameter.find('='));
  });
  std::string sorted;
  for (const std::string& parameter : parameters) {
    sorted += Concat({sorted.empty() ? "" : "&", parameter});
  }
  return sorted;
}

}  // namespace

Request Filled(const CallTemplate& call, const Variables& variables) {
  Request request{.method = call.method, .url = Expand(call.url, variables, wire::PercentEncoded)};
  for (const auto& [name, text] : call.headers) {
    request.headers.push_back(Concat({name, ": ", Expand(text, variables, AsIs)}));
  }
  request.body = FormOf(call, variables);
  if (!request.body.empty()) {
    request.content_type = "application/x-www-form-urlencoded";
    return request;
  }
  request.body = JsonOf(call, variables);
  if (!request.body.empty()) request.content_type = "application/json";
  return request;
}

void Sign(const SignatureSource& signature, const Variables& variables, Request& request) {
  if (!request.body.empty()) {
    request.body = json::Document::Parse(request.body).root().Canonical();
  }
  const size_t end = request.url.find('?');
  std::string text = request.url.substr(0, end);
  const std::string query =
      end == request.url.npos ? "" : SortedQuery(std::string_view(request.url).substr(end + 1));
  for (const std::string_view part : {std::string_view(query), std::string_view(request.body)}) {
    if (!part.empty()) text += Concat({"&", part});
  }
  const std::string key = Expand(signature.key, variables, AsIs);
  request.headers.push_back(
      Concat({signature.header, ": ", crypto::Base64(crypto::HmacSha256(key, text))}));
}

}  // namespace comanda::delivery
