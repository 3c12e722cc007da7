#include "web/api.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/gzip.h"
#include "base/problem.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "json/reader.h"
#include "web/embedded.h"
#include "web/reference.h"

namespace comanda::web {
namespace {

// A hash of a script or style sheet, as in an attribute `integrity`. Quoted, it is a source of a
// Content-Security-Policy that permits exactly this text.
std::string IntegrityOf(std::string_view text) {
  return "sha256-" + crypto::Base64(crypto::Sha256(text));
}

void Fill(std::string& page, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark);
  CHECK(at != std::string::npos, "the page has a place for what is filled in");
  page.replace(at, mark.size(), text);
}

// Shared by all answers instead of copied, so that clients that request it and read slowly do not
// exhaust the memory.
using Shared = std::shared_ptr<const std::string>;

Shared Share(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

// A file of the page, made at the first request.
struct File {
  explicit File(std::string text)
      : body(Share(std::move(text))),
        gzip(Share(GzipSmallest(*body))),
        etag(http::BodyTag(*gzip)),
        integrity(IntegrityOf(*body)) {}

  Shared body;
  Shared gzip;
  std::string etag;
  std::string integrity;
};

const File& Tools() {
  static const File kTools(Concat({ProgramsJs(), ReceiversJs(), TryingJs()}));
  return kTools;
}

const File& Docs() {
  static const File kDocs = [] {
    std::string page(DocsHtml());
    Fill(page, "{{style}}", DocsCss());
    Fill(page, "{{tools}}", Tools().integrity);
    Fill(page, "{{script}}", DocsJs());
    const json::Document openapi = json::Document::ParseStored(OpenapiJson());
    Fill(page, "{{edition}}", EditionHtml(openapi));
    Fill(page, "{{reference}}", ReferenceHtml(openapi));
    return File(std::move(page));
  }();
  return kDocs;
}

http::Response Answer(http::Context& ctx, const File& file, std::string_view content_type) {
  ctx.query().AllowOnly({});
  if (ctx.HasMatch(file.etag)) return http::NotModified(file.etag);
  http::Response response;
  response.gzipped = ctx.PrefersGzip();
  response.shared_body = response.gzipped ? file.gzip : file.body;
  response.content_type = content_type;
  response.etag = file.etag;
  return response;
}

http::Response GetDocs(http::Context& ctx) {
  static const std::string kPolicy = Concat(
      {"default-src 'none'; style-src '", IntegrityOf(DocsCss()), "'; script-src '",
       IntegrityOf(DocsJs()), "' '", Tools().integrity,
       "'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"});
  http::Response response = Answer(ctx, Docs(), "text/html; charset=utf-8");
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return response;
}

http::Response GetTools(http::Context& ctx) {
  return Answer(ctx, Tools(), "text/javascript; charset=utf-8");
}

// The tills to start from, as the package has them.
http::Response GetProgram(http::Context& ctx) {
  static const File kTillPy{std::string(TillPy())};
  static const File kOfflineTillKt{std::string(OfflineTillKt())};
  const std::string_view name = ctx.parameter("file");
  const File* file = nullptr;
  if (name == "till.py") file = &kTillPy;
  if (name == "OfflineTill.kt") file = &kOfflineTillKt;
  if (!file) {
    throw Refusal(Problem::kNotFound, "The programs are till.py and OfflineTill.kt.");
  }
  return Answer(ctx, *file, "text/plain; charset=utf-8");
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
    http::Open(http::Method::kGet, "/docs/tools.js", GetTools),
    http::Open(http::Method::kGet, "/docs/programs/{file}", GetProgram),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::web
