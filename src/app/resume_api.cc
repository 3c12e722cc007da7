#include "app/resume_api.h"

#include <array>
#include <string>

#include "http/context.h"

namespace comanda::app {
namespace {

http::Response Resume(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const bool was_held = ctx.site().resume();
  return http::Data(std::string(R"({"was_held":)") + (was_held ? "true" : "false") + "}");
}

constexpr http::Route ResumeRoute() {
  http::Route route = {http::Method::kPost,
                       "/control/resume",
                       http::Access::kLocal,
                       std::nullopt,
                       http::Replay::kNone,
                       false,
                       Resume};
  route.of_one_company = false;
  return route;
}

constexpr std::array kRoutes = {ResumeRoute()};

}  // namespace

std::span<const http::Route> ResumeRoutes() { return kRoutes; }

}  // namespace comanda::app
