#include "web/kitchen_page.h"

#include <array>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/problem.h"
#include "base/version.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "web/embedded.h"
#include "web/file.h"

namespace comanda::web {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'; "
    "require-trusted-types-for 'script'; trusted-types comanda";

// A file of the page whose name changes with its content.
struct Named {
  Named(std::string text, std::string_view ending)
      : name(Concat({"page.", crypto::Sha256Hex(text).substr(0, 12), ending})),
        file(std::move(text)) {}

  std::string name;
  File file;
};

const Named& Script() {
  static const Named kScript(std::string(KitchenJs()), ".js");
  return kScript;
}

const Named& Style() {
  static const Named kStyle(std::string(KitchenCss()), ".css");
  return kStyle;
}

const Named& Manifest() {
  static const Named kManifest(std::string(KitchenManifest()), ".webmanifest");
  return kManifest;
}

const Named& Icon() {
  static const Named kIcon(std::string(MarkSvg()), ".svg");
  return kIcon;
}

const File& Page() {
  static const File kPage = [] {
    std::string page(KitchenHtml());
    Fill(page, "{{version}}", kVersion);
    Fill(page, "{{icon}}", Icon().name);
    Fill(page, "{{manifest}}", Manifest().name);
    Fill(page, "{{style}}", Style().name);
    Fill(page, "{{script}}", Script().name);
    return File(std::move(page));
  }();
  return kPage;
}

const File& Worker() {
  static const File kWorker = [] {
    std::string worker(WorkerJs());
    Fill(worker, "{{version}}", crypto::Sha256Hex(*Page().body).substr(0, 12));
    Fill(worker, "{{style}}", Style().name);
    Fill(worker, "{{script}}", Script().name);
    return File(std::move(worker));
  }();
  return kWorker;
}

http::Response GetPage(http::Context& ctx) {
  // Both are read by the page itself.
  constexpr std::array<std::string_view, 2> kParameters = {"station", "view"};
  ctx.query().AllowOnly(kParameters);
  http::Response response = Answer(ctx, Page(), "text/html; charset=utf-8");
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Permissions-Policy", "screen-wake-lock=(self)");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  return response;
}

http::Response Immutable(http::Context& ctx, const Named& named, std::string_view content_type) {
  http::Response response = Answer(ctx, named.file, content_type);
  response.cache = http::Cache::kImmutable;
  return response;
}

http::Response GetFile(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string_view name = ctx.parameter("file");
  if (name == "worker.js") {
    http::Response response = Answer(ctx, Worker(), "text/javascript; charset=utf-8");
    // Its folder would be all that it may control.
    response.headers.emplace_back("Service-Worker-Allowed", "/kitchen");
    return response;
  }
  if (name == Script().name) return Immutable(ctx, Script(), "text/javascript; charset=utf-8");
  if (name == Style().name) return Immutable(ctx, Style(), "text/css; charset=utf-8");
  if (name == Manifest().name) return Immutable(ctx, Manifest(), "application/manifest+json");
  if (name == Icon().name) return Immutable(ctx, Icon(), "image/svg+xml");
  throw Refusal(
      Problem::kNotFound,
      "The page /kitchen names the files that it has; those of another version are gone.");
}

constexpr std::array kRoutes = {
    http::Open(http::Method::kGet, "/kitchen", GetPage),
    http::Open(http::Method::kGet, "/kitchen/{file}", GetFile),
};

}  // namespace

std::span<const http::Route> KitchenPageRoutes() { return kRoutes; }

}  // namespace comanda::web
