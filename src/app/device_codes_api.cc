#include "app/device_codes_api.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "app/pairing_uri.h"
#include "base/qr_code.h"
#include "http/context.h"
#include "http/list.h"
#include "json/writer.h"
#include "keys/json.h"
#include "keys/pairing.h"

namespace comanda::app {
namespace {

constexpr int kQrPixels = 480;

// With an empty text nulls in the place of what is shown once.
std::string Render(std::string_view uri, UtcMs expires_at) {
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  const std::optional<QrCode> code = uri.empty() ? std::nullopt : MakeQrCode(uri);
  out.Key("uri");
  uri.empty() ? out.Null() : out.Text(uri);
  out.Key("svg");
  code ? out.Text(QrCodeSvg(*code, kQrPixels)) : out.Null();
  out.Key("expires_at").Instant(expires_at);
  out.EndObject();
  return body;
}

http::Response Make(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const keys::CodeDraft draft = keys::ReadDeviceCode(ctx.body(), ctx.unknown_fields());
  keys::RequireMayGrant(ctx.principal(), *draft.role);
  http::Site& site = ctx.site();
  const std::string uri = PairingUri(site, draft.role, std::nullopt);
  const keys::Secret secret = keys::MakeCodeSecret(site.clock.Now());
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const keys::Code code = keys::MakeCode(
        tx, site.gate.pairing_codes(),
        {site.gate.keys(), site.mode, site.clock.SettledNow(), site.clock.MonotonicMs()},
        ctx.principal(), draft, secret, stamp);
    return http::ShownOnce(Render(uri + secret.text, code.expires_at), Render("", code.expires_at),
                           201);
  });
}

// What stands before the code, for `comanda pair`: of a server, how it is reached is known to
// itself alone.
http::Response GetUri(http::Context& ctx) {
  constexpr std::array<std::string_view, 2> kParameters = {"role", "address"};
  ctx.query().AllowOnly(kParameters);
  std::optional<auth::Role> role;
  if (const auto name = ctx.query().Find("role")) {
    role = auth::FindRole(*name);
    if (!role) throw http::MalformedFilter("role", "must be one of " + auth::RoleList() + ".");
  }
  const auto address = ctx.query().Find("address");
  std::string body;
  json::Writer(body)
      .BeginObject()
      .Key("uri")
      .Text(PairingUri(ctx.site(), role,
                       address ? std::optional<std::string>(*address) : std::nullopt))
      .EndObject();
  return http::Uncached(http::Data(body));
}

constexpr http::Route OfTheBox(http::Route route) {
  route.of_one_company = false;
  return route;
}

constexpr std::array kRoutes = {
    http::Post("/box/devices/codes", auth::Scope::kAdminWrite, Make),
    OfTheBox(http::Local(http::Method::kGet, "/control/pairing-uri", GetUri)),
};

}  // namespace

std::span<const http::Route> DeviceCodeRoutes() { return kRoutes; }

}  // namespace comanda::app
