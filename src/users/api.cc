#include "users/api.h"

#include <array>

#include "events/types.h"
#include "http/context.h"
#include "http/list.h"
#include "users/list.h"

namespace comanda::users {
namespace {

http::Response List(http::Context& ctx) {
  RequireListParameters(ctx.query());
  return http::AnswerList(ctx, static_cast<size_t>(events::Counter::kOther), http::Cache::kNoStore,
                          FindPage);
}

constexpr std::array kRoutes = {
    http::Get("/v1/users", auth::Scope::kUsersRead, List),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::users
