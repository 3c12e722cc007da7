#include "keys/pairing_api.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/problem.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "json/writer.h"
#include "keys/audit.h"
#include "keys/json.h"
#include "keys/pairing.h"

namespace comanda::keys {
namespace {

constexpr size_t kPairBodyMax = 4096;
constexpr size_t kAuditedCompaniesMax = 50;

CommandContext CommandContextOf(http::Context& context) {
  const http::Site& site = context.site();
  return {site.gate.keys(), site.mode, site.clock.SettledNow(), site.clock.MonotonicMs()};
}

std::string_view ReasonOf(const std::optional<auth::PairingCode>& code, int64_t monotonic_ms) {
  if (!code) return "unknown";
  switch (code->At(monotonic_ms)) {
    case auth::CodeState::kOpen:
    case auth::CodeState::kUsed:
      return "used";
    case auth::CodeState::kExpired:
      return "expired";
  }
  return "";
}

// The companies that a refused code concerns.
std::vector<db::CompanyId> ConcernedBy(http::Context& context, db::Session& session,
                                       const std::optional<auth::PairingCode>& code) {
  if (code) return {code->company};
  std::vector<db::CompanyId> all;
  for (const http::CompanyName& company :
       context.site().find_companies(session, std::nullopt, kAuditedCompaniesMax)) {
    all.push_back(company.company);
  }
  return all;
}

void AuditRefused(http::Context& context, const std::optional<auth::PairingCode>& code) {
  const int64_t now_ms = context.site().clock.MonotonicMs();
  const std::optional<int64_t> left_out = context.site().gate.pairing_codes().TakeAuditRow(now_ms);
  if (!left_out) return;
  const std::string actor = "address:" + context.request().client_address;
  std::string detail;
  json::Writer writer(detail);
  writer.BeginObject().Key("reason").Text(ReasonOf(code, now_ms));
  writer.Key("left_out_before").Integer(*left_out).EndObject();
  try {
    context.site().database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (const db::CompanyId company : ConcernedBy(context, tx, code)) {
        Audit(tx, company, stamp,
              {actor, "pairing.refused", code ? std::string_view(code->id) : "", detail});
      }
    });
  } catch (const Fault& fault) {  // a full disk: the code is refused nevertheless
    log::Warning("a refused pairing code is not in the audit log", {{"why", fault.cause}});
  }
}

// One answer for every code that is not accepted, so that it says nothing about codes.
[[noreturn]] void RefuseCode(http::Context& context, const std::optional<auth::PairingCode>& code) {
  context.site().gate.CountUnknown(context.request().client_address, "pairing codes");
  AuditRefused(context, code);
  throw Refusal(Problem::kNotFound,
                "The pairing code is not valid: it was used already, is older than ten minutes, or "
                "was never made. Make a new one on the box: comanda pair.");
}

http::Response PairByCode(http::Context& context, const std::string& text) {
  http::Site& site = context.site();
  auth::PairingCodes& codes = site.gate.pairing_codes();
  const std::optional<auth::PairingCode> code = codes.Find(crypto::Sha256Hex(text));
  if (!code || code->At(site.clock.MonotonicMs()) != auth::CodeState::kOpen) {
    RefuseCode(context, code);
  }
  const Secret secret = MakeSecret(site.options.key_prefix, site.mode, site.clock.Now());
  std::optional<Key> key;
  http::Response response = context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    key = Redeem(tx, codes, CommandContextOf(context),
                 {.code = *code, .secret = secret, .address = context.request().client_address},
                 stamp);
    if (!key) return http::Response();
    return http::ShownOnce(RenderWithText(*key, secret.text), RenderWithoutText(*key), 201);
  });
  if (!key) RefuseCode(context, code);
  response.location = "/auth/api-keys/" + key->id;
  return response;
}

// Of a request that was refused, has ended, was collected, or was never made. No row in the audit
// log: it is no code that somebody could have shown to another.
[[noreturn]] void RefuseRequest(http::Context& context) {
  context.site().gate.CountUnknown(context.request().client_address, "pairing codes");
  throw Refusal(Problem::kNotFound,
                "The request is not known: it was refused, is older than ten minutes, or was "
                "collected already. Ask again: POST /auth/pair/requests.");
}

// A device that waits until somebody has typed its number.
http::Response PairByRequest(http::Context& context, const std::string& text) {
  http::Site& site = context.site();
  auth::DeviceRequests& requests = site.gate.device_requests();
  const uint64_t poll = requests.BeginPoll(text);
  if (poll > 1) site.long_polls.Wake();  // ends the one before
  auth::DeviceRequests::Collected collected = requests.Collect(text, site.clock.MonotonicMs());
  if (collected.is_known && !collected.key &&
      context.AwaitChange([&] { return requests.HasNews(text, poll, site.clock.MonotonicMs()); })) {
    collected = requests.Collect(text, site.clock.MonotonicMs());
  }
  if (!collected.is_known) RefuseRequest(context);
  if (!collected.key) return http::Uncached(http::Data(R"({"state":"waiting"})"));
  http::Response response = http::Uncached(http::Data(collected.key->json, 201));
  response.location = "/auth/api-keys/" + collected.key->id;
  return response;
}

http::Response Pair(http::Context& context) {
  context.query().AllowOnly({});
  const Pairing pairing = ReadPairing(context.body(), context.unknown_fields());
  return pairing.request ? PairByRequest(context, *pairing.request)
                         : PairByCode(context, pairing.code);
}

http::Response Ask(http::Context& context) {
  context.query().AllowOnly({});
  auth::DeviceRequest asked = ReadDeviceRequest(context.body(), context.unknown_fields());
  const http::Site& site = context.site();
  asked.address = context.request().client_address;
  asked.asked_at = site.clock.Now();
  asked.expires_at = asked.asked_at + auth::kDeviceRequestLifeMs;
  const auto made = site.gate.device_requests().Add(std::move(asked), site.clock.MonotonicMs());
  return http::Uncached(http::Data(RenderAsked(made), 201));
}

// What became of a code, for `comanda pair`, which waits.
http::Response GetCode(http::Context& context) {
  context.query().AllowOnly({});
  const std::string id = context.UuidParameter("id");
  for (const auth::PairingCode& code : context.site().gate.pairing_codes().All()) {
    if (code.id != id || code.company != context.company()) continue;
    const auth::CodeState state = code.At(context.site().clock.MonotonicMs());
    return http::Uncached(http::Data(Render(code, state)));
  }
  throw Refusal(Problem::kNotFound, "There is no pairing code with that id.");
}

http::Response MakeCode(http::Context& context) {
  context.query().AllowOnly({});
  const CodeDraft draft = ReadNewCode(context.body(), context.unknown_fields());
  const Secret secret = MakeCodeSecret(context.site().clock.Now());
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Code code =
        keys::MakeCode(tx, context.site().gate.pairing_codes(), CommandContextOf(context),
                       context.principal(), draft, secret, stamp);
    return http::Uncached(http::Data(Render(code, secret.text), 201));
  });
}

// For devices that have no key yet.
constexpr http::Route OfDevices(http::Method method, std::string_view pattern,
                                http::Response (*handler)(http::Context&)) {
  http::Route route = http::Open(method, pattern, handler);
  route.reads_body = true;
  route.body_max = kPairBodyMax;
  return route;
}

constexpr std::array kRoutes = {
    OfDevices(http::Method::kPost, "/auth/pair", Pair),
    OfDevices(http::Method::kPost, "/auth/pair/requests", Ask),
    http::Local(http::Method::kPost, "/control/pairing-codes", MakeCode),
    http::Local(http::Method::kGet, "/control/pairing-codes/{id}", GetCode),
};

}  // namespace

std::span<const http::Route> PairingRoutes() { return kRoutes; }

}  // namespace comanda::keys
