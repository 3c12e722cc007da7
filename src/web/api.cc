#include "web/api.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/gzip.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "web/embedded.h"

namespace comanda::web {
namespace {

// A hash source of a Content-Security-Policy, which permits exactly this inline text.
std::string SourceOf(std::string_view text) {
  return "'sha256-" + crypto::Base64(crypto::Sha256(text)) + "'";
}

void Fill(std::string& page, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark);
  CHECK(at != std::string::npos, "the page has a place for its style and script");
  page.replace(at, mark.size(), text);
}

// Shared by all answers instead of copied, so that clients that request it and read slowly do not
// exhaust the memory.
using Shared = std::shared_ptr<const std::string>;

Shared Share(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

struct Page {
  Shared body;
  Shared gzip;
  std::string policy;
  std::string etag;
};

Page MakePage() {
  Page page;
  std::string body(DocsHtml());
  Fill(body, "{{style}}", DocsCss());
  Fill(body, "{{script}}", DocsJs());
  page.body = Share(std::move(body));
  page.policy = "default-src 'none'; style-src " + SourceOf(DocsCss()) + "; script-src " +
                SourceOf(DocsJs()) +
                "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  page.gzip = Share(Gzip(*page.body));
  page.etag = http::BodyTag(*page.gzip);
  return page;
}

http::Response GetDocs(http::Context& ctx) {
  ctx.query().AllowOnly({});
  static const Page kPage = MakePage();
  if (ctx.HasMatch(kPage.etag)) return http::NotModified(kPage.etag);
  http::Response response;
  response.gzipped = ctx.PrefersGzip();
  response.shared_body = response.gzipped ? kPage.gzip : kPage.body;
  response.content_type = "text/html; charset=utf-8";
  response.etag = kPage.etag;
  response.headers.emplace_back("Content-Security-Policy", kPage.policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

const Shared& Openapi() {
  static const Shared kText = Share(std::string(OpenapiJson()));
  return kText;
}

const Shared& OpenapiGzip() {
  static const Shared kText = Share(std::string(OpenapiJsonGzip()));
  return kText;
}

http::Response GetOpenapi(http::Context& ctx) {
  ctx.query().AllowOnly({});
  static const std::string kTag = http::BodyTag(OpenapiJsonGzip());
  if (ctx.HasMatch(kTag)) return http::NotModified(kTag);
  http::Response response;
  response.gzipped = ctx.PrefersGzip();
  response.shared_body = response.gzipped ? OpenapiGzip() : Openapi();
  response.etag = kTag;
  return response;
}

constexpr std::array kRoutes = {
    http::Open(http::Method::kGet, "/v1/openapi.json", GetOpenapi),
    http::Open(http::Method::kGet, "/docs", GetDocs),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::web
