#include "selftest/probe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/time/clock.h"
#include "base/decimal.h"
#include "base/id.h"

namespace comanda::selftest {
namespace {

// Longer than any wait that the contract allows.
constexpr int64_t kTimeoutMs = 40'000;
// For one request.
constexpr int kPausesMax = 5;
constexpr int64_t kPauseSecondsMax = 120;
constexpr std::string_view kReferencePrefix = "selftest-";
constexpr std::string_view kWebhooks = "/v1/webhooks";
// An id that no record has: requests on it show whether the key has the scope, and change nothing.
constexpr std::string_view kNobody = "00000000-0000-4000-8000-000000000000";

// A request that needs the scope and changes nothing.
struct ScopeProbe {
  auth::Scope scope;
  std::string_view method;
  // $ stands for kNobody.
  std::string_view path;
  std::string_view body;
};
constexpr std::array kScopeProbes = {
    ScopeProbe{auth::Scope::kOrdersRead, "GET", "/v1/orders?per_page=1", ""},
    ScopeProbe{auth::Scope::kOrdersWrite, "PATCH", "/v1/orders/$", R"({"comment":"selftest"})"},
    ScopeProbe{auth::Scope::kLogisticsWrite, "DELETE", "/v1/orders/$/rider", ""},
    ScopeProbe{auth::Scope::kMenuRead, "GET", "/v1/menu/products/$", ""},
    ScopeProbe{auth::Scope::kMenuWrite, "PATCH", "/v1/menu/products/$", R"({"visible":true})"},
    ScopeProbe{auth::Scope::kCompaniesRead, "GET", "/v1/company", ""},
    ScopeProbe{auth::Scope::kPaymentMethodsRead, "GET", "/v1/company/payment-methods?per_page=1",
               ""},
    ScopeProbe{auth::Scope::kUsersRead, "GET", "/v1/users?per_page=1", ""},
    ScopeProbe{auth::Scope::kStoresRead, "GET", "/v1/stores/status", ""},
    ScopeProbe{auth::Scope::kKitchenRead, "GET", "/v1/kitchen/settings", ""},
    ScopeProbe{auth::Scope::kKitchenWrite, "POST", "/v1/kitchen/tickets/$/rush", R"({"on":true})"},
    ScopeProbe{auth::Scope::kAdminWrite, "PATCH", "/v1/kitchen/stations/$",
               R"({"name":"selftest"})"},
    ScopeProbe{auth::Scope::kClientsRead, "GET", "/v1/clients?per_page=1", ""},
    ScopeProbe{auth::Scope::kWebhooksRead, "GET", "/v1/webhooks?per_page=1", ""},
    ScopeProbe{auth::Scope::kWebhooksWrite, "PATCH", "/v1/webhooks/$",
               R"({"merchant_id":"selftest"})"},
    ScopeProbe{auth::Scope::kApiKeysRead, "GET", "/auth/api-keys?per_page=1", ""},
    ScopeProbe{auth::Scope::kApiKeysWrite, "PATCH", "/auth/api-keys/$", R"({"name":"selftest"})"},
};

// The seconds that the server asks to wait; nothing if it does not.
std::optional<int64_t> RetryAfter(const Reply& reply) {
  if (reply.status() != 429 && reply.status() != 503) return std::nullopt;
  const auto header = reply.Header("Retry-After");
  if (!header) return std::nullopt;
  int64_t seconds = 0;
  const auto [end, error] =
      std::from_chars(header->data(), header->data() + header->size(), seconds);
  if (error != std::errc() || end != header->data() + header->size()) return std::nullopt;
  if (seconds < 0 || seconds > kPauseSecondsMax) return std::nullopt;
  return std::max<int64_t>(seconds, 1);
}

bool Succeeded(const Reply& reply) { return reply.status() >= 200 && reply.status() < 300; }

}  // namespace

std::string Filled(std::string_view pattern, std::initializer_list<std::string> values) {
  std::string out;
  auto value = values.begin();
  for (const char c : pattern) {
    if (c != '$') {
      out += c;
      continue;
    }
    CHECK(value != values.end(), "a value for each $");
    out += *value++;
  }
  CHECK(value == values.end(), "a $ for each value");
  return out;
}

std::string TestOrder::Path(std::string_view below) const {
  std::string path = "/v1/orders/" + id();
  if (!below.empty()) path += "/" + std::string(below);
  return path;
}

// Requests.

void Probe::Pause(int64_t seconds) {
  const int64_t until = SystemClock().MonotonicMs() + seconds * 1000;
  while (SystemClock().MonotonicMs() < until && (tidying_ || !settings_.interrupted())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  waited_ms_ += seconds * 1000;
}

Reply Probe::Send(const Request& request) {
  net::Call call{.method = request.method,
                 .url = settings_.url + request.path,
                 .authorities = settings_.authorities,
                 .headers = request.headers,
                 .body = request.body,
                 .connect_timeout_ms = kTimeoutMs,
                 .timeout_ms = kTimeoutMs,
                 .describes_security = true};
  if (request.with_key) call.headers.push_back("Authorization: Bearer " + settings_.key);
  call.headers.push_back("Accept: application/json");
  if (!request.body.empty()) call.headers.push_back("Content-Type: " + request.content_type);

  for (int pauses = 0;; ++pauses) {
    Reply reply(network_.Send(call));
    const auto seconds = RetryAfter(reply);
    if (!seconds || !request.patient || pauses == kPausesMax) {
      Remember(request, reply);
      return reply;
    }
    Pause(*seconds);
  }
}

Reply Probe::Get(std::string path, std::vector<std::string> headers) {
  return Send({.path = std::move(path), .headers = std::move(headers)});
}

// Called for every request: orders that should have been refused must be tidied up too.
void Probe::Remember(const Request& request, const Reply& reply) {
  if (request.path.starts_with(kWebhooks)) return RememberWebhook(request, reply);
  if (request.method != "POST" || !Succeeded(reply)) return;
  if (request.path.starts_with("/auth/api-keys")) RememberKey(reply);
  if (request.path != "/v1/orders") return;
  const std::string id = reply.Text("data.id");
  const std::string reference = reply.Text("data.reference");
  for (Made& made : made_) {
    if (made.id == id) return;
    if (made.reference == reference && made.id.empty()) {
      made.id = id;
      return;
    }
  }
  made_.push_back({reference, id});
}

void Probe::RememberKey(const Reply& reply) {
  if (std::string id = reply.Text("data.id"); !id.empty()) made_keys_.push_back(std::move(id));
  if (std::string key = reply.Text("data.key"); !key.empty()) secrets_.push_back(std::move(key));
}

void Probe::RememberWebhook(const Request& request, const Reply& reply) {
  if (std::string secret = reply.Text("data.secret"); !secret.empty()) {
    secrets_.push_back(std::move(secret));
  }
  if (request.method != "POST" || request.path != kWebhooks) return;
  if (reply.status() >= 300 && reply.status() < 500) return;
  std::string id = reply.Text("data.id");
  if (id.empty()) {
    webhook_unanswered_ = true;
  } else if (std::ranges::find(made_webhooks_, id) == made_webhooks_.end()) {
    made_webhooks_.push_back(std::move(id));
  }
}

std::string Probe::NewReference() {
  return std::string(kReferencePrefix) + NewId(SystemClock().Now());
}

TestOrder Probe::Create(const std::string& body) {
  TestOrder order{.reference = NewReference(), .body = body, .created = {}, .record = {}};
  // Before sending, because the answer may be lost.
  made_.push_back({order.reference, {}});
  order.created = Send({.method = "POST",
                        .path = "/v1/orders",
                        .body = body,
                        .headers = {"Idempotency-Key: " + order.reference}});
  order.record = order.created;
  if (order.created.status() >= 400 && order.created.status() < 500) {
    std::erase_if(made_, [&](const Made& made) { return made.reference == order.reference; });
  }
  return order;
}

Reply Probe::Write(TestOrder& order, std::string_view method, std::string_view below,
                   const std::string& body, std::vector<std::string> headers) {
  const Reply reply = Send({.method = std::string(method),
                            .path = order.Path(below),
                            .body = body,
                            .headers = std::move(headers)});
  if (Succeeded(reply) && reply.Text("data.id") == order.id()) order.record = reply;
  return reply;
}

// The scopes of the key, and the currency.

void Probe::LearnScopes() {
  for (const ScopeProbe& probe : kScopeProbes) {
    std::string path(probe.path);
    if (const size_t at = path.find('$'); at != std::string::npos) {
      path.replace(at, 1, kNobody);
    }
    const Reply reply =
        Send({.method = std::string(probe.method), .path = path, .body = std::string(probe.body)});
    if (reply.status() != 401 && reply.status() != 403) scopes_.Add(probe.scope);
  }
}

void Probe::LearnCurrency(std::string_view code) {
  decimals_ = CurrencyDecimals(code).value_or(decimals_);
}

std::string Probe::Amount(Minor minor) const {
  std::string text;
  AppendScaled(text, minor, decimals_);
  return text;
}

std::optional<Minor> Probe::MinorOf(std::optional<json::Value> value) const {
  if (!value || value->kind() != json::Kind::kNumber) return std::nullopt;
  const auto decimal = ParseDecimal(value->number_text());
  return decimal ? Scaled(*decimal, decimals_) : std::nullopt;
}

// Tidying up.

// Nothing if the order was never created.
std::optional<Remnant> Probe::TidyUp(Made made) {
  Remnant remnant{.reference = made.reference, .id = made.id, .public_id = {}, .status = {}};
  if (remnant.id.empty()) {
    const Reply found = Get("/v1/orders?filter[reference]=" + made.reference);
    remnant.id = found.Text("data.0.id");
    if (remnant.id.empty() && found.status() == 200) return std::nullopt;
    if (remnant.id.empty()) return remnant;
  }
  const std::string path = "/v1/orders/" + remnant.id;
  // Every order has been PENDING, so this changes nothing, but returns the order even to a key
  // without orders:read.
  Reply order =
      Send({.method = "PATCH", .path = path + "/status", .body = R"({"status":"PENDING"})"});
  if (!Succeeded(order)) order = Get(path);
  for (const json::Value& payment : order.Items("data.payments")) {
    const auto cancelled = Find(payment, "canceled_at");
    if (cancelled && !cancelled->is_null()) continue;
    Send({.method = "DELETE", .path = path + "/payments/" + TextAt(payment, "id")});
  }
  const Reply cancel = Send({.method = "POST",
                             .path = path + "/cancel",
                             .body = R"({"reason":"comanda selftest: tidying up"})"});
  const Reply& last = Succeeded(cancel) ? cancel : order;
  remnant.public_id = last.Text("data.public_id");
  remnant.status = last.Text("data.status");
  return remnant;
}

void Probe::DeleteWebhooks(std::vector<Remnant>& remnants) {
  const auto left = [&](const std::string& id) {
    remnants.push_back({.reference = webhook_reference,
                        .id = id,
                        .public_id = {},
                        .status = {},
                        .kind = "webhook"});
  };
  if (webhook_unanswered_) {
    const Reply found = Get(std::string(kWebhooks) + "?per_page=100");
    if (found.status() != 200) left("");
    for (const json::Value& row : found.Items("data")) {
      if (TextAt(row, "merchant_id") != webhook_reference) continue;
      made_webhooks_.push_back(TextAt(row, "id"));
    }
  }
  for (const std::string& id : made_webhooks_) {
    const Reply deleted =
        Send({.method = "DELETE", .path = std::string(kWebhooks) + "/" + id, .body = ""});
    if (!Succeeded(deleted) && deleted.status() != 404) left(id);
  }
}

std::vector<Remnant> Probe::TidyUp() {
  tidying_ = true;
  std::vector<Remnant> remnants;
  DeleteWebhooks(remnants);
  for (const Made& made : std::vector(made_)) {
    if (auto remnant = TidyUp(made)) remnants.push_back(std::move(*remnant));
  }
  if (!dish_id.empty()) {
    remnants.push_back({.reference = std::string(kDishSku),
                        .id = dish_id,
                        .public_id = {},
                        .status = "hidden",
                        .kind = "product"});
  }
  for (const std::string& id : made_keys_) {
    const Reply revoked = Send({.method = "DELETE", .path = "/auth/api-keys/" + id, .body = ""});
    remnants.push_back({.reference = "SELFTEST",
                        .id = id,
                        .public_id = {},
                        .status = revoked.Text("data.revoked_at").empty() ? "" : "revoked",
                        .kind = "key"});
  }
  return remnants;
}

}  // namespace comanda::selftest
