#include "clients/api.h"

#include <array>
#include <optional>
#include <string>

#include "base/problem.h"
#include "clients/clients.h"
#include "clients/json.h"
#include "clients/list.h"
#include "clients/store.h"
#include "events/types.h"
#include "http/context.h"
#include "http/list.h"

namespace comanda::clients {
namespace {

using auth::Scope;

http::Response List(http::Context& ctx) {
  RequireListParameters(ctx.query());
  return http::AnswerList(ctx, static_cast<size_t>(events::Counter::kOther), http::Cache::kNoStore,
                          FindPage);
}

http::Response Get(http::Context& ctx) {
  const std::string id = ctx.UuidParameter("id");
  ctx.query().AllowOnly({});
  const auto record = ctx.Read([&](db::Snapshot& snapshot) -> std::optional<std::string> {
    const std::optional<Client> client = Find(snapshot, ctx.company(), id);
    if (!client) return std::nullopt;
    return Render(*client, SelectAddresses(snapshot, ctx.company(), id));
  });
  if (!record) throw Refusal(Problem::kNotFound, "there is no client " + id);
  http::Response response = http::Data(*record);
  response.cache = http::Cache::kNoStore;
  return response;
}

constexpr std::array kRoutes = {
    http::Get("/v1/clients", Scope::kClientsRead, List),
    http::Get("/v1/clients/{id}", Scope::kClientsRead, Get),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::clients
