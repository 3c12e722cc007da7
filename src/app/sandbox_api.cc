#include "app/sandbox_api.h"

#include <array>

#include "app/import.h"
#include "http/context.h"
#include "json/reader.h"

namespace comanda::app {
namespace {

http::Response Reset(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader(ctx.body().root(), "", errors, ctx.unknown_fields()).Finish();
  errors.ThrowIfAny();
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    ResetSandbox(tx, ctx.company(), ctx.principal().company_uuid, stamp);
    return http::Data(R"({"reset":true})");
  });
}

constexpr std::array kRoutes = {
    http::PostBodyOptional("/sandbox/reset", auth::Scope::kOrdersWrite, Reset),
};

}  // namespace

std::span<const http::Route> SandboxRoutes() { return kRoutes; }

}  // namespace comanda::app
