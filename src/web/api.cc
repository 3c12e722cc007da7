#include "web/api.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/problem.h"
#include "http/context.h"
#include "json/reader.h"
#include "web/embedded.h"
#include "web/file.h"
#include "web/reference.h"

namespace comanda::web {
namespace {

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

http::Response GetDocs(http::Context& ctx) {
  ctx.query().AllowOnly({});
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
  ctx.query().AllowOnly({});
  return Answer(ctx, Tools(), "text/javascript; charset=utf-8");
}

// The tills to start from, as the package has them.
http::Response GetProgram(http::Context& ctx) {
  ctx.query().AllowOnly({});
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
