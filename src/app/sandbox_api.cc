#include "app/sandbox_api.h"

#include <array>

#include "app/import.h"
#include "http/context.h"

namespace comanda::app {
namespace {

http::Response Reset(http::Context& ctx) {
  ctx.query().AllowOnly({});
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    ResetSandbox(tx, ctx.company(), ctx.principal().company_id, stamp);
    return http::Data(R"({"reset":true})");
  });
}

constexpr std::array kRoutes = {
    http::Route{http::Method::kPost, "/sandbox/reset", http::Access::kKey,
                auth::Scope::kOrdersWrite, http::Replay::kHonoured, false, Reset},
};

}  // namespace

std::span<const http::Route> SandboxRoutes() { return kRoutes; }

}  // namespace comanda::app
