#include <algorithm>
#include <array>

#include "base/time/clock.h"
#include "base/id.h"
#include "base/text.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr std::string_view kHooks = "/v1/webhooks";
// A name that never resolves (RFC 6761): nothing that the server sends arrives anywhere.
constexpr std::string_view kUrl = "https://selftest.invalid/comanda";
// For requests that must be refused: an address of the documentation (RFC 5737), which the server
// need not look up.
constexpr std::string_view kAddressUrl = "https://198.51.100.7/comanda";
constexpr std::string_view kHeaderValue = "selftest header value";
constexpr size_t kUrlBytesMax = 2048;
constexpr size_t kHeaderValueBytesMax = 1024;
constexpr size_t kAckCodesMax = 20;
constexpr int64_t kRotationGraceS = 60;

constexpr std::array<std::string_view, 23> kFields = {"id",
                                                      "webhook_url",
                                                      "merchant_id",
                                                      "events",
                                                      "webhook_headers",
                                                      "ack_http_codes",
                                                      "public_key_pin",
                                                      "is_active",
                                                      "secret",
                                                      "secret_last_four",
                                                      "secret_rotates_until",
                                                      "sequence",
                                                      "backlog",
                                                      "oldest_undelivered_at",
                                                      "events_lost",
                                                      "last_outcome",
                                                      "suspended_at",
                                                      "suspended_reason",
                                                      "consecutive_failures",
                                                      "last_delivery_at",
                                                      "last_status",
                                                      "created_at",
                                                      "updated_at"};
// What a caller sets, and nothing but a caller changes.
constexpr std::array<std::string_view, 7> kCallersFields = {"id",
                                                            "webhook_url",
                                                            "merchant_id",
                                                            "events",
                                                            "webhook_headers",
                                                            "ack_http_codes",
                                                            "public_key_pin"};
constexpr std::array<std::string_view, 9> kDeliveryFields = {
    "id",    "event_id", "event_type",      "subject",   "sequence",
    "state", "attempts", "next_attempt_at", "created_at"};
constexpr std::array<std::string_view, 7> kAttemptFields = {
    "at", "outcome", "status", "duration_ms", "address", "answer", "clock_skew_s"};

std::string PathOf(const Probe& probe, std::string_view below = "") {
  return std::string(kHooks) + "/" + probe.webhook.Text("data.id") + std::string(below);
}

Reply Post(Probe& probe, const std::string& path, std::string body) {
  return probe.Send({.method = "POST", .path = path, .body = std::move(body)});
}

Reply Patch(Probe& probe, std::string body) {
  return probe.Send({.method = "PATCH", .path = PathOf(probe), .body = std::move(body)});
}

Reply Delete(Probe& probe, const std::string& path) {
  return probe.Send({.method = "DELETE", .path = path, .body = ""});
}

// A server may have no webhooks at all, which is not a deviation.
bool IsServed(Probe& probe, Finding& finding) {
  if (probe.webhooks.status() == 0) {
    probe.webhooks = probe.Get(std::string(kHooks) + "?per_page=1");
  }
  if (probe.webhooks.status() != 404) return true;
  finding.NotChecked("not served: the server answers 404 at /v1/webhooks");
  return false;
}

bool HasWebhook(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return false;
  if (!probe.webhook.Text("data.id").empty()) return true;
  finding.NotChecked("there is no webhook to do it with");
  return false;
}

// Tests, deliveries and redelivery are additions of this contract: a server that has webhooks may
// lack them, all three together.
bool HasDeliveries(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return false;
  if (probe.deliveries.status() == 0) probe.deliveries = probe.Get(PathOf(probe, "/deliveries"));
  if (probe.deliveries.status() != 404) return true;
  finding.NotChecked("not served: the server answers 404 at /v1/webhooks/{id}/deliveries");
  return false;
}

// Reading and creating.

void ListsWebhooks(Probe& probe, Finding& finding) {
  if (IsServed(probe, finding)) finding.List(probe.webhooks);
}

Reply Create(Probe& probe) {
  return probe.Send(
      {.method = "POST",
       .path = std::string(kHooks),
       .body =
           Filled(R"({"webhook_url":"$","merchant_id":"$","webhook_headers":{"X-Selftest":"$"}})",
                  {std::string(kUrl), probe.webhook_reference, std::string(kHeaderValue)}),
       .headers = {"Idempotency-Key: " + probe.webhook_reference}});
}

void CreatesAWebhook(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  const Reply made = Create(probe);
  const auto full = made.Row("errors", "code", "too_many_items");
  if (full) return finding.NotChecked("there are as many webhooks as the server allows");
  if (!finding.Status(made, 201)) return;
  probe.webhook = made;
  finding.Text(made, "data.webhook_url", kUrl);
  finding.Text(made, "data.merchant_id", probe.webhook_reference);
  finding.Boolean(made, "data.is_active", true);
  finding.Same("header Location", PathOf(probe), made.HeaderOr("Location", "none"));
}

void ShowsEveryField(Probe& probe, Finding& finding) {
  if (HasWebhook(probe, finding)) finding.Members(probe.webhook.Find("data"), kFields, "a webhook");
}

void SubscribesToOrders(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  finding.Same("data.events", R"(["ORDER_CREATED","ORDER_UPDATED","ORDER_DELETED"])",
               Shown(probe.webhook.Find("data.events")));
}

// whsec_ and the padded base64 of 32 bytes, whose length no other number of bytes has with one '='.
bool IsSecret(std::string_view text) {
  constexpr std::string_view kPrefix = "whsec_";
  constexpr size_t kDigits = 43;
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  if (text.size() != kDigits + 1 || !text.ends_with('=')) return false;
  return std::ranges::all_of(text.substr(0, kDigits), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/';
  });
}

void CheckSecret(const Reply& reply, std::string_view what, Finding& finding) {
  constexpr size_t kLastFour = 4;
  const std::string secret = reply.Text("data.secret");
  if (!finding.True(IsSecret(secret), std::string(what), "whsec_ and the base64 of 32 bytes",
                    secret.empty() ? "none" : "another text")) {
    return;
  }
  finding.Text(reply, "data.secret_last_four", secret.substr(secret.size() - kLastFour));
}

void MakesASecret(Probe& probe, Finding& finding) {
  if (HasWebhook(probe, finding)) CheckSecret(probe.webhook, "the secret", finding);
}

// The report does not show what was found: it may be a secret.
void CheckHidden(std::optional<json::Value> record, std::string_view what, Finding& finding) {
  const auto secret = Find(record, "secret");
  const std::string name = "the secret, " + std::string(what);
  if (!secret) return finding.Lacks("secret", name, "null");
  finding.True(secret->is_null(), name, "null", "a value");
}

// The row of the webhook. It lives as long as the list.
std::optional<json::Value> RowIn(const Reply& list, const Probe& probe) {
  return list.Row("data", "id", probe.webhook.Text("data.id"));
}

Reply ListAll(Probe& probe) { return probe.Get(std::string(kHooks) + "?per_page=100"); }

void ShowsTheSecretOnce(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  CheckHidden(probe.Get(PathOf(probe)).Find("data"), "read by id", finding);
  CheckHidden(RowIn(ListAll(probe), probe), "in the list", finding);
  const Reply again = Create(probe);
  finding.Text(again, "data.id", probe.webhook.Text("data.id"));
  CheckHidden(again.Find("data"), "where the creation is repeated", finding);
}

void CheckSame(std::optional<json::Value> expected, std::optional<json::Value> got,
               std::string_view what, Finding& finding) {
  for (const std::string_view name : kCallersFields) {
    finding.Same(std::string(name) + ", " + std::string(what), Shown(Find(expected, name)),
                 Shown(Find(got, name)));
  }
}

void ReadsAWebhook(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  const Reply read = probe.Get(PathOf(probe));
  if (!finding.Status(read, 200)) return;
  CheckSame(probe.webhook.Find("data"), read.Find("data"), "read by id", finding);
  CheckSame(probe.webhook.Find("data"), RowIn(ListAll(probe), probe), "in the list", finding);
}

void MasksHeaders(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  constexpr std::string_view kPath = "data.webhook_headers.X-Selftest";
  const std::string masked = probe.webhook.Text(kPath);
  finding.True(!masked.empty() && masked.find(kHeaderValue) == std::string::npos,
               "the value of a header", "masked", masked.empty() ? "nothing" : "not masked");
}

// Changing.

void ChangesAWebhook(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  const Reply changed =
      Patch(probe, R"({"events":["STORE_STATUS_CHANGED","ORDER_PAID"],"ack_http_codes":[204]})");
  if (!finding.Status(changed, 200)) return;
  for (const std::string_view event : {"STORE_STATUS_CHANGED", "ORDER_PAID"}) {
    const std::vector<json::Value> events = changed.Items("data.events");
    finding.True(
        events.size() == 2 &&
            std::ranges::any_of(
                events, [&](const json::Value& value) { return TextAt(value, "") == event; }),
        "data.events", "two, with " + std::string(event), Shown(changed.Find("data.events")));
  }
  finding.Same("data.ack_http_codes", "[204]", Shown(changed.Find("data.ack_http_codes")));
  finding.Text(changed, "data.webhook_url", kUrl);
  finding.Text(changed, "data.merchant_id", probe.webhook_reference);
  CheckHidden(changed.Find("data"), "where something else is changed", finding);
}

void PausesAWebhook(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  finding.Boolean(Patch(probe, R"({"is_active":false})"), "data.is_active", false);
  finding.Boolean(probe.Get(PathOf(probe)), "data.is_active", false);
  finding.Boolean(Patch(probe, R"({"is_active":true,"skip_backlog":true})"), "data.is_active",
                  true);
}

void RotatesTheSecret(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  const Reply rotated = Patch(probe, Filled(R"({"rotate_secret":true,"grace_seconds":$})",
                                            {std::to_string(kRotationGraceS)}));
  if (!finding.Status(rotated, 200)) return;
  CheckSecret(rotated, "the new secret", finding);
  finding.True(rotated.Text("data.secret") != probe.webhook.Text("data.secret"), "the new secret",
               "another one", "the old one");
  finding.Set(rotated, "data.secret_rotates_until");
  const Reply read = probe.Get(PathOf(probe));
  CheckHidden(read.Find("data"), "read after the rotation", finding);
  finding.Text(read, "data.secret_last_four", rotated.Text("data.secret_last_four"));
}

void LimitsTheGrace(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  finding.Invalid(Patch(probe, R"({"rotate_secret":true,"grace_seconds":86401})"), "grace_seconds",
                  "out_of_range");
}

// Deliveries.

void ListsDeliveries(Probe& probe, Finding& finding) {
  if (!HasDeliveries(probe, finding)) return;
  const Reply list = probe.Get(PathOf(probe, "/deliveries"));
  if (!finding.List(list)) return;
  // The test, where the server lists it.
  if (list.Find("data.0")) finding.Members(list.Find("data.0"), kDeliveryFields, "a delivery");
  finding.Problem(probe.Get(PathOf(probe, "/deliveries?filter[state]=selftest")), 400,
                  "invalid_parameter", "?filter[state]=selftest");
}

void SendsATest(Probe& probe, Finding& finding) {
  if (!HasDeliveries(probe, finding)) return;
  const Reply sent = Post(probe, PathOf(probe, "/test"), "{}");
  if (!finding.Status(sent, 200)) return;
  finding.Members(sent.Find("data"), kDeliveryFields, "a delivery");
  finding.Text(sent, "data.event_type", "WEBHOOK_TEST");
  finding.Null(sent, "data.sequence");
  finding.Members(sent.Find("data.attempts.0"), kAttemptFields, "an attempt");
  const std::string outcome = sent.Text("data.attempts.0.outcome");
  if (!outcome.empty()) finding.Note("its outcome was " + outcome);
}

void RedeliversWhatItKnows(Probe& probe, Finding& finding) {
  if (!HasDeliveries(probe, finding)) return;
  const std::string unknown = NewId(SystemClock().Now());
  finding.Problem(Post(probe, PathOf(probe, "/deliveries/" + unknown + "/redeliver"), "{}"), 404,
                  "not_found");
}

void RedeliversTheDead(Probe& probe, Finding& finding) {
  if (!HasDeliveries(probe, finding)) return;
  const Reply queued = Post(probe, PathOf(probe, "/deliveries/redeliver"), R"({"state":"dead"})");
  if (!finding.Status(queued, 200)) return;
  // The failed test may be among them.
  const auto count = queued.Find("data.queued");
  finding.True(count && count->kind() == json::Kind::kNumber, "data.queued", "a number",
               Shown(count));
}

// Webhooks that must be refused. They come paused and with the reference of the run, so that a
// server that accepts one sends nothing, and TidyUp() finds it.

Reply PostBad(Probe& probe, const std::string& members) {
  return Post(
      probe, std::string(kHooks),
      Filled(R"({$,"merchant_id":"$","is_active":false})", {members, probe.webhook_reference}));
}

void CheckNamed(const Reply& reply, std::string_view field, const std::string& what,
                Finding& finding) {
  if (!finding.Problem(reply, 422, "validation_failed", what)) return;
  finding.True(reply.Row("errors", "field", field).has_value(), "errors[] of " + what,
               std::string(field), Shown(reply.Find("errors")));
}

void CheckUrl(Probe& probe, std::string_view url, const std::string& what, Finding& finding) {
  CheckNamed(PostBad(probe, Filled(R"("webhook_url":"$")", {std::string(url)})), "webhook_url",
             what, finding);
}

void RefusesBadUrls(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  CheckNamed(PostBad(probe, R"("events":["ORDER_CREATED"])"), "webhook_url", "no URL", finding);
  CheckUrl(probe, "ftp://198.51.100.7/", "ftp", finding);
  CheckUrl(probe, "https://user:password@198.51.100.7/", "a user in the URL", finding);
  CheckUrl(probe, "https://198.51.100.7/#part", "a fragment", finding);
  CheckUrl(probe, "https://198.51.100.7:22/", "a port below 1024", finding);
  std::string long_url(kAddressUrl);
  long_url.resize(kUrlBytesMax + 1, 'x');
  CheckUrl(probe, long_url, "a URL above 2,048 bytes", finding);
}

void RefusesPlainHttp(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  CheckUrl(probe, "http://198.51.100.7:8080/", "http to a public address", finding);
}

void RefusesLoopback(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  for (const std::string_view url : {"https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/",
                                     "https://[::1]/", "https://[::ffff:127.0.0.1]/"}) {
    CheckUrl(probe, url, std::string(url) + " (unless the setting webhook_networks names it)",
             finding);
  }
}

void RefusesSpecialAddresses(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  for (const std::string_view url :
       {"https://0.0.0.0/", "https://169.254.169.254/", "https://224.0.0.1/",
        "https://255.255.255.255/", "https://[fe80::1]/", "https://[::]/"}) {
    CheckUrl(probe, url, std::string(url), finding);
  }
}

// One request names every bad field (section 2), which spares the server's rate limit.
Reply PostBadMember(Probe& probe, const std::string& member) {
  return PostBad(probe, Filled(R"("webhook_url":"$",$)", {std::string(kAddressUrl), member}));
}

void RefusesBadEvents(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  const Reply reply =
      PostBadMember(probe, R"("events":["ORDER_EATEN","ORDER_CREATED","ORDER_CREATED"])");
  finding.Invalid(reply, "events[0]", "unknown_value", "an unknown event");
  CheckNamed(reply, "events[2]", "an event twice", finding);
  CheckNamed(PostBadMember(probe, R"("events":[])"), "events", "no event", finding);
}

void RefusesBadHeaders(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  constexpr std::array<std::string_view, 6> kNames = {
      "Host", "Content-Type", "Connection", "Transfer-Encoding", "webhook-id", "no token"};
  std::string headers;
  for (const std::string_view name : kNames) headers += Filled(R"("$":"x",)", {std::string(name)});
  headers +=
      Filled(R"("X-Long":"$","X-Control":"\u0007")", {std::string(kHeaderValueBytesMax + 1, 'x')});
  const Reply reply = PostBadMember(probe, "\"webhook_headers\":{" + headers + "}");
  for (const std::string_view name : kNames) {
    CheckNamed(reply, "webhook_headers." + std::string(name), "the header " + std::string(name),
               finding);
  }
  CheckNamed(reply, "webhook_headers.X-Long", "a value above 1,024 bytes", finding);
  CheckNamed(reply, "webhook_headers.X-Control", "a value with a control character", finding);
}

void RefusesBadCodes(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  const Reply reply = PostBadMember(probe, R"("ack_http_codes":[199,500])");
  CheckNamed(reply, "ack_http_codes[0]", "the status 199", finding);
  CheckNamed(reply, "ack_http_codes[1]", "the status 500", finding);
  std::string codes;
  for (size_t i = 0; i <= kAckCodesMax; ++i) {
    codes += (codes.empty() ? "" : ",") + std::to_string(200 + i);
  }
  CheckNamed(PostBadMember(probe, "\"ack_http_codes\":[" + codes + "]"), "ack_http_codes",
             "21 statuses", finding);
}

void RefusesUnknownIds(Probe& probe, Finding& finding) {
  if (!IsServed(probe, finding)) return;
  const std::string path = std::string(kHooks) + "/";
  finding.Problem(probe.Get(path + NewId(SystemClock().Now())), 404, "not_found", "an unknown id");
  finding.Problem(probe.Get(path + "selftest"), 422, "validation_failed", "a malformed id");
}

// Deleting.

void DeletesAWebhook(Probe& probe, Finding& finding) {
  if (!HasWebhook(probe, finding)) return;
  const Reply deleted = Delete(probe, PathOf(probe));
  if (!finding.Status(deleted, 200)) return;
  finding.Text(deleted, "data.id", probe.webhook.Text("data.id"));
  CheckHidden(deleted.Find("data"), "where it is deleted", finding);
  finding.Problem(probe.Get(PathOf(probe)), 404, "not_found", "read after that");
  finding.Problem(Patch(probe, R"({"is_active":false})"), 404, "not_found", "changed after that");
  finding.Problem(Delete(probe, PathOf(probe)), 404, "not_found", "deleted after that");
  finding.True(!RowIn(ListAll(probe), probe), "the list after that", "without it", "has it");
}

constexpr auth::ScopeSet kRead = Needs(Scope::kWebhooksRead);
constexpr auth::ScopeSet kBoth = Needs(Scope::kWebhooksRead, Scope::kWebhooksWrite);

constexpr std::array kChecks = {
    Check{"Webhooks are listed page by page", "13", "GET /v1/webhooks: a page", Stage::kKey, kRead,
          ListsWebhooks},
    Check{"A webhook is created", "13", "a name that does not resolve now is accepted", Stage::kKey,
          kBoth, CreatesAWebhook},
    Check{"A webhook shows every documented field", "13", "Subscription: id, webhook_url, ...",
          Stage::kKey, kBoth, ShowsEveryField, Promise::kContract},
    Check{"A webhook that names no events gets those of orders", "13",
          "events default: the three ORDER ones", Stage::kKey, kBoth, SubscribesToOrders,
          Promise::kContract},
    Check{"A webhook's secret is one that public libraries read", "13",
          "a whsec_ secret (padded base64 of 32 random bytes)", Stage::kKey, kBoth, MakesASecret,
          Promise::kContract},
    Check{"A webhook's secret is shown once", "13",
          "in the answers of POST and rotation, null elsewhere and on a replay", Stage::kKey, kBoth,
          ShowsTheSecretOnce, Promise::kContract},
    Check{"A webhook is read and listed as it was created", "13", "GET /v1/webhooks/{id}",
          Stage::kKey, kBoth, ReadsAWebhook},
    Check{"A webhook's headers are shown masked", "13", "webhook_headers: values shown masked",
          Stage::kKey, kBoth, MasksHeaders, Promise::kContract},
    Check{"A webhook is changed in part", "13", "PATCH: what is not named stays", Stage::kKey,
          kBoth, ChangesAWebhook, Promise::kContract},
    Check{"A webhook is paused and goes on", "13",
          "is_active; {\"is_active\": true, \"skip_backlog\": true} begins at the end of the log",
          Stage::kKey, kBoth, PausesAWebhook, Promise::kContract},
    Check{"A webhook's secret is rotated", "13",
          "PATCH {\"rotate_secret\": true, \"grace_seconds\": ...}: both secrets sign until then",
          Stage::kKey, kBoth, RotatesTheSecret, Promise::kContract},
    Check{"An old secret lasts a day at most", "13", "grace_seconds: 0 to 86400", Stage::kKey,
          kBoth, LimitsTheGrace, Promise::kContract},
    Check{"A test answers with its delivery, also when it failed", "13",
          "POST .../test: waits for the outcome, 200 with the delivery also when it failed",
          Stage::kKey, kBoth, SendsATest, Promise::kContract},
    Check{"Deliveries are listed page by page", "13", "GET .../deliveries (filter[state], ...)",
          Stage::kKey, kBoth, ListsDeliveries, Promise::kContract},
    Check{"A delivery that is not kept cannot be sent again", "13",
          "redelivery of an event no longer kept 404", Stage::kKey, kBoth, RedeliversWhatItKnows,
          Promise::kContract},
    Check{"All dead deliveries are sent again in one request", "13",
          "POST .../deliveries/redeliver {\"state\": \"dead\"}: 200 with {\"queued\": n}",
          Stage::kKey, kBoth, RedeliversTheDead, Promise::kContract},
    Check{"An unknown webhook is 404, a malformed id 422", "1",
          "A malformed id in a path is 422 on that parameter, an unknown one 404", Stage::kKey,
          kRead, RefusesUnknownIds, Promise::kContract},
    Check{"A malformed webhook_url is refused", "13",
          "webhook_url missing, ftp, userinfo, fragment, above 2,048 bytes, a port below 1024",
          Stage::kKey, kBoth, RefusesBadUrls, Promise::kContract},
    Check{"Plain http to a public address is refused", "13", "plain http only to private addresses",
          Stage::kKey, kBoth, RefusesPlainHttp, Promise::kContract},
    Check{"A webhook to the server itself is refused", "13",
          "never to loopback; webhook_networks (the only way to loopback)", Stage::kKey, kBoth,
          RefusesLoopback, Promise::kContract},
    Check{"A webhook to no single host is refused", "13",
          "never to link-local, multicast, unspecified, broadcast", Stage::kKey, kBoth,
          RefusesSpecialAddresses, Promise::kContract},
    Check{"Events that cannot be subscribed to are refused", "13",
          "events unknown unknown_value, empty, twice", Stage::kKey, kBoth, RefusesBadEvents,
          Promise::kContract},
    Check{"Headers that the server sets are refused", "13",
          "a header name that is no token, Host, Content-*, Connection, Transfer-Encoding, "
          "webhook-*; a value with control characters or above 1,024",
          Stage::kKey, kBoth, RefusesBadHeaders, Promise::kContract},
    Check{"Statuses that cannot acknowledge are refused", "13",
          "ack_http_codes outside 200-499 or above 20", Stage::kKey, kBoth, RefusesBadCodes,
          Promise::kContract},
    Check{"A webhook is deleted", "13", "DELETE: 200 with the record", Stage::kKey, kBoth,
          DeletesAWebhook},
};

}  // namespace

std::span<const Check> WebhookChecks() { return kChecks; }

}  // namespace comanda::selftest
