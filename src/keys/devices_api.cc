#include "keys/devices_api.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/device_requests.h"
#include "base/id.h"
#include "base/problem.h"
#include "http/context.h"
#include "json/writer.h"
#include "keys/api.h"
#include "keys/audit.h"
#include "keys/json.h"
#include "keys/keys.h"
#include "keys/store.h"

namespace comanda::keys {
namespace {

using auth::DeviceRequest;
using auth::Scope;

constexpr size_t kDigits = 6;

CommandContext CommandContextOf(http::Context& context) {
  const http::Site& site = context.site();
  return {site.gate.keys(), site.mode, site.clock.SettledNow(), site.clock.MonotonicMs()};
}

bool IsNumber(std::string_view text) {
  return text.size() == kDigits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// A number that somebody has typed. Each mistake is counted, so that nobody tries all of them.
class TypedNumber {
 public:
  // Throws Refusal rate_limit_exceeded where the key has mistyped too many.
  TypedNumber(http::Context& context, std::string number)
      : requests_(context.site().gate.device_requests()),
        clock_(context.site().clock),
        key_(context.principal().actor),
        is_counted_(!context.request().local),
        number_(std::move(number)) {
    if (!IsNumber(number_)) {
      throw Invalid("number", FieldCode::kInvalidFormat,
                    "must be the six digits that the device shows, as 482913.");
    }
    if (is_counted_) requests_.RequireNumbersLeft(key_, clock_.MonotonicMs());
  }

  const std::string& text() const { return number_; }
  std::optional<DeviceRequest> Find() const {
    return requests_.Find(number_, clock_.MonotonicMs());
  }
  std::optional<DeviceRequest> Claim(std::string_view claimer) const {
    return requests_.Claim(number_, claimer, clock_.MonotonicMs());
  }
  void CountMistake() const {
    if (is_counted_) requests_.CountWrongNumber(key_, clock_.MonotonicMs());
  }

 private:
  auth::DeviceRequests& requests_;
  const Clock& clock_;
  const std::string key_;
  const bool is_counted_;
  const std::string number_;
};

// No device that asks shows the number.
class UnknownNumber : public Refusal {
 public:
  UnknownNumber()
      : Refusal(Invalid("number", FieldCode::kNotFound,
                        "is shown by no device that asks now: a request ends after ten minutes, "
                        "and the number is typed once.")) {}
};

// For the audit log: both sides of what was decided.
std::string Detail(const http::Context& context, const DeviceRequest& request) {
  std::string detail;
  json::Writer writer(detail);
  writer.BeginObject();
  writer.Key("name").Text(request.name);
  writer.Key("role").Text(Name(request.role));
  writer.Key("address").Text(request.address);
  writer.Key("by_address").Text(context.request().client_address);
  writer.EndObject();
  return detail;
}

// Runs `job` for the request with that number, which nobody else can accept or refuse meanwhile.
template <typename Job>
http::Response Decide(http::Context& context, const TypedNumber& number, const std::string& claimer,
                      Job&& job) {
  bool is_unknown = false;
  try {
    return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const std::optional<DeviceRequest> request = number.Claim(claimer);
      is_unknown = !request;
      if (!request) throw UnknownNumber();
      return job(tx, stamp, *request);
    });
  } catch (...) {
    context.site().gate.device_requests().Release(number.text(), claimer);
    if (is_unknown) number.CountMistake();
    throw;
  }
}

// Who shows that number; nothing is accepted.
http::Response Look(const TypedNumber& number) {
  const std::optional<DeviceRequest> request = number.Find();
  if (request) return http::Uncached(http::Data(Render(*request, WithNumber::kNo)));
  number.CountMistake();
  throw UnknownNumber();
}

http::Response Accept(http::Context& context) {
  context.query().AllowOnly({});
  const Acceptance wanted = ReadAcceptance(context.body(), context.unknown_fields());
  const TypedNumber number(context, wanted.number);
  if (!wanted.grant) return Look(number);
  RequireMayGrant(context.principal(), wanted.grant->role);
  const http::Site& site = context.site();
  const Secret secret = MakeSecret(site.options.key_prefix, site.mode, site.clock.Now());
  const auto job = [&](db::Tx& tx, const db::Stamp& stamp, const DeviceRequest& request) {
    const Key key = CreateForRole(tx, CommandContextOf(context), context.principal(), *wanted.grant,
                                  secret, stamp);
    Audit(tx, context.company(), stamp,
          {context.principal().actor, "device.accepted", key.id, Detail(context, request)});
    tx.OnCommit([&requests = context.site().gate.device_requests(), number = number.text(),
                 granted = auth::GrantedKey{key.id, RenderWithText(key, secret.text)}] {
      requests.Accept(number, granted.id, granted);
    });
    return http::Uncached(http::Data(Render(key)));
  };
  return Decide(context, number, secret.id, job);
}

http::Response Refuse(http::Context& context) {
  context.query().AllowOnly({});
  const TypedNumber number(context, context.parameter("number"));
  const std::string claimer = NewId(context.site().clock.Now());
  const auto job = [&](db::Tx& tx, const db::Stamp& stamp, const DeviceRequest& request) {
    Audit(tx, context.company(), stamp,
          {context.principal().actor, "device.refused", "", Detail(context, request)});
    tx.OnCommit([&requests = context.site().gate.device_requests(), number = number.text(),
                 claimer] { requests.Drop(number, claimer); });
    return http::Uncached(http::Data(Render(request, WithNumber::kNo)));
  };
  try {
    return Decide(context, number, claimer, job);
  } catch (const UnknownNumber&) {  // in a path
    throw Refusal(Problem::kNotFound, "No device that asks to be let in shows that number now.");
  }
}

// For the command line, on the box itself.
http::Response ListRequests(http::Context& context) {
  context.query().AllowOnly({});
  std::string list;
  json::Writer writer(list);
  writer.BeginArray();
  const http::Site& site = context.site();
  for (const DeviceRequest& request :
       site.gate.device_requests().Waiting(site.clock.MonotonicMs())) {
    writer.Raw(Render(request, WithNumber::kYes));
  }
  writer.EndArray();
  return http::Uncached(http::Data(list));
}

http::Response ListDevices(http::Context& context) {
  return ListPage(context, {.with_role = true, .default_sort = "name", .render = RenderDevice});
}

http::Response ShutOut(http::Context& context) {
  const std::string id = context.UuidParameter("keyId");
  context.query().AllowOnly({});
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const std::optional<Key> key = store::Find(tx, context.company(), id);
    if (!key || !key->role) {
      throw Refusal(Problem::kNotFound,
                    "There is no device with that id; keys without a role are under "
                    "/auth/api-keys.");
    }
    return http::Uncached(http::Data(
        RenderDevice(Revoke(tx, CommandContextOf(context), context.principal(), id, stamp),
                     context.site().displays_of(context.company()))));
  });
}

constexpr http::Route OfTheBox(http::Route route) {
  route.of_one_company = false;
  return route;
}

constexpr std::array kRoutes = {
    http::Get("/box/devices", Scope::kAdminRead, ListDevices),
    http::Post("/box/devices/accept", Scope::kAdminWrite, Accept),
    http::Delete("/box/devices/requests/{number}", Scope::kAdminWrite, Refuse),
    http::Delete("/box/devices/{keyId}", Scope::kAdminWrite, ShutOut),
    OfTheBox(http::Local(http::Method::kGet, "/control/pairing-requests", ListRequests)),
};

}  // namespace

std::span<const http::Route> DeviceRoutes() { return kRoutes; }

}  // namespace comanda::keys
