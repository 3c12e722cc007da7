#include <algorithm>
#include <array>

#include "base/time/clock.h"
#include "base/id.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr size_t kBodyBytesMax = 1024 * 1024;

// The only check of the complete form of a problem; others check status and code.
void DescribesProblems(Probe& probe, Finding& finding) {
  const Reply reply = probe.Get("/v1/selftest-no-such-path?x=1");
  finding.True(reply.HeaderOr("Content-Type", "none").starts_with("application/problem+json"),
               "Content-Type", "application/problem+json", reply.HeaderOr("Content-Type", "none"));
  constexpr std::array<std::string_view, 7> kNames = {"type",     "title", "status",    "detail",
                                                      "instance", "code",  "request_id"};
  finding.Members(reply.Find(""), kNames, "the problem");
  finding.True(reply.Text("type").ends_with("/" + reply.Code()), "type", "ends in /" + reply.Code(),
               Shown(reply.Find("type")));
  finding.Number(reply, "status", std::to_string(reply.status()));
  finding.Text(reply, "title", "Not Found");
  finding.True(reply.Text("instance").ends_with("/v1/selftest-no-such-path"), "instance",
               "the path without the query", Shown(reply.Find("instance")));
  finding.Text(reply, "request_id", reply.HeaderOr("X-Request-Id", ""));
}

void RefusesUnknownPaths(Probe& probe, Finding& finding) {
  finding.Problem(probe.Get("/v1/selftest-no-such-path"), 404, "not_found", "an unknown path");
  finding.Problem(probe.Get("/v1/company/"), 404, "not_found", "a trailing slash");
}

void RefusesWrongMethods(Probe& probe, Finding& finding) {
  const Reply reply = probe.Send({.method = "PUT", .path = "/v1/company", .body = "{}"});
  finding.Problem(reply, 405, "method_not_allowed");
  finding.True(reply.HeaderOr("Allow", "").find("GET") != std::string::npos, "header Allow",
               "names GET", reply.HeaderOr("Allow", "none"));
}

void TellsItsMethods(Probe& probe, Finding& finding) {
  const Reply reply = probe.Send({.method = "OPTIONS", .path = "/v1/orders", .with_key = false});
  finding.Status(reply, 204, "OPTIONS");
  finding.HasHeader(reply, "Allow");
  const Reply head = probe.Send({.method = "HEAD", .path = "/v1/company"});
  finding.Status(head, probe.first.status(), "HEAD");
  finding.Same("body of HEAD", "", head.answer().body);
}

void RefusesForeignHosts(Probe& probe, Finding& finding) {
  finding.Problem(probe.Get("/v1/company", {"Host: selftest.invalid"}), 421, "misdirected_request");
}

void RefusesUnknownIds(Probe& probe, Finding& finding) {
  finding.Problem(probe.Get("/v1/orders/" + NewId(SystemClock().Now())), 404, "not_found",
                  "an unknown id");
  finding.Problem(probe.Get("/v1/orders/selftest"), 422, "validation_failed", "a malformed id");
}

void CheckParameter(Probe& probe, const std::string& query, std::string_view names,
                    Finding& finding) {
  const Reply reply = probe.Get("/v1/orders?" + query);
  if (!finding.Problem(reply, 400, "invalid_parameter", "?" + query) || names.empty()) return;
  finding.True(reply.Text("detail").find(names) != std::string::npos, "detail for ?" + query,
               "names " + std::string(names), Shown(reply.Find("detail")));
}

void RefusesUnknownParameters(Probe& probe, Finding& finding) {
  CheckParameter(probe, "selftest=1", "selftest", finding);
  CheckParameter(probe, "limit=5", "per_page", finding);
  CheckParameter(probe, "page[size]=5", "per_page", finding);
  CheckParameter(probe, "status=PENDING", "filter[status]", finding);
}

void RefusesBadPages(Probe& probe, Finding& finding) {
  CheckParameter(probe, "per_page=0", "", finding);
  CheckParameter(probe, "per_page=101", "", finding);
  CheckParameter(probe, "page=0", "", finding);
  CheckParameter(probe, "page=", "", finding);
  CheckParameter(probe, "page=1&page=2", "", finding);
}

void RefusesBadSorts(Probe& probe, Finding& finding) {
  CheckParameter(probe, "sort=selftest", "created_at", finding);
}

void RefusesBadFilters(Probe& probe, Finding& finding) {
  CheckParameter(probe, "filter[start_date]=yesterday", "", finding);
  CheckParameter(probe, "filter[status]=COOKED", "", finding);
  CheckParameter(probe, "filter[paid]=perhaps", "", finding);
}

// Orders that must be refused.

Reply Post(Probe& probe, std::string body, std::string content_type = "application/json") {
  return probe.Send({.method = "POST",
                     .path = "/v1/orders",
                     .body = std::move(body),
                     .headers = {"Idempotency-Key: " + probe.NewReference()},
                     .content_type = std::move(content_type)});
}

void RefusesBrokenJson(Probe& probe, Finding& finding) {
  finding.Problem(Post(probe, R"({"service_type":)"), 400, "invalid_json", "a body cut off");
  finding.Problem(Post(probe, R"({"service_type":"ONSITE","service_type":"ONSITE"})"), 400,
                  "invalid_json", "a field twice");
}

void RefusesOtherContents(Probe& probe, Finding& finding) {
  finding.Problem(Post(probe, "service_type=ONSITE", "application/x-www-form-urlencoded"), 415,
                  "unsupported_media_type");
}

void RefusesHugeBodies(Probe& probe, Finding& finding) {
  const std::string body =
      R"({"service_type":"NOWHERE","comment":")" + std::string(kBodyBytesMax, 'x') + R"("})";
  finding.Problem(Post(probe, body), 413, "payload_too_large");
}

void RequiresAnIdempotencyKey(Probe& probe, Finding& finding) {
  finding.Problem(
      probe.Send(
          {.method = "POST", .path = "/v1/orders", .body = R"({"service_type":"TAKEAWAY"})"}),
      400, "missing_idempotency_key");
}

void NamesEveryWrongField(Probe& probe, Finding& finding) {
  const Reply reply =
      Post(probe, R"({"service_type":"NOWHERE","packaging_price":-1,"order_title":7})");
  finding.Invalid(reply, "service_type", "unknown_value", "three wrong fields");
  finding.Invalid(reply, "packaging_price", "must_not_be_negative", "three wrong fields");
  finding.Invalid(reply, "order_title", "wrong_type", "three wrong fields");
  const std::vector<json::Value> errors = reply.Items("errors");
  const bool is_silent = std::ranges::any_of(
      errors, [](const json::Value& error) { return TextAt(error, "message").empty(); });
  if (is_silent) finding.Lacks("message", "errors[].message", "a sentence");
}

void RefusesOtherEndpointsFields(Probe& probe, Finding& finding) {
  const Reply reply =
      Post(probe, R"({"service_type":"TAKEAWAY","combos":[{"product_name":"x","quantity":1,)"
                  R"("variant_price":1}],"status":"READY"})");
  finding.Invalid(reply, "combos", "not_allowed", "items with the order");
  finding.Invalid(reply, "status", "not_allowed", "items with the order");
  finding.Invalid(Post(probe, R"({"service_type":"TAKEAWAY","currency":"USD"})"), "currency",
                  "read_only", "a currency of one's own");
}

void RefusesFieldsOfOtherServices(Probe& probe, Finding& finding) {
  finding.Invalid(Post(probe, R"({"service_type":"TAKEAWAY","delivery_price":1})"),
                  "delivery_price", "not_allowed", "a delivery price without delivery");
}

void RefusesUnknownReferences(Probe& probe, Finding& finding) {
  const Reply reply = Post(probe, Filled(R"({"service_type":"TAKEAWAY","client_id":"$"})",
                                         {NewId(SystemClock().Now())}));
  finding.Invalid(reply, "client_id", "not_found");
}

// Requests as other services want them (section 18). The path of the order that the walk has made.

void RefusesOtherPaths(Probe& probe, Finding& finding) {
  const std::string order = probe.take_away.Path();
  const Reply put =
      probe.Send({.method = "PUT", .path = order + "/status", .body = R"({"status":"PREPARING"})"});
  finding.Problem(put, 405, "method_not_allowed", "PUT .../status");
  finding.True(put.HeaderOr("Allow", "").find("PATCH") != std::string::npos,
               "header Allow of PUT .../status", "names PATCH", put.HeaderOr("Allow", "none"));
  finding.Problem(probe.Send({.method = "POST", .path = order + "/accept", .body = "{}"}), 404,
                  "not_found", "POST .../accept");
}

void RefusesOtherParameters(Probe& probe, Finding& finding) {
  CheckParameter(probe, "page[number]=1", "page", finding);
  CheckParameter(probe, "offset=20", "page", finding);
  CheckParameter(probe, "start_date=2026-01-01", "filter[start_date]", finding);
}

// The item is refused with this field, and the message names the right one.
void CheckItem(Probe& probe, std::string_view members, std::string_view field,
               std::string_view right, Finding& finding) {
  const Reply reply = probe.Send(
      {.method = "POST",
       .path = probe.take_away.Path("combos"),
       .body = Filled(R"({"combos":[{"product_name":"Selftest",$}]})", {std::string(members)})});
  const std::string name = "combos[0]." + std::string(field);
  if (!finding.Problem(reply, 422, "validation_failed", "an item with " + std::string(field)))
    return;
  const auto row = reply.Row("errors", "field", name);
  finding.True(row && TextAt(row, "message").find(right) != std::string::npos,
               "errors[] of " + name, "a message that names " + std::string(right),
               Shown(reply.Find("errors")));
}

void RefusesOtherFields(Probe& probe, Finding& finding) {
  CheckItem(probe, R"("quantity":1,"variant_price":1,"qty":1)", "qty", "quantity", finding);
  CheckItem(probe, R"("quantity":1,"variant_price":1,"unit_price":1)", "unit_price",
            "variant_price", finding);
  CheckItem(probe, R"("quantity":1,"variant_price":1,"price":1)", "price", "variant_price",
            finding);
}

void RefusesAmountsAsText(Probe& probe, Finding& finding) {
  const Reply reply = probe.Send(
      {.method = "POST",
       .path = probe.take_away.Path("combos"),
       .body = R"({"combos":[{"product_name":"Selftest","quantity":1,"variant_price":"12.50"}]})"});
  finding.Invalid(reply, "combos[0].variant_price", "wrong_type", "a price as a text");
}

void RefusesEmptyUpserts(Probe& probe, Finding& finding) {
  const Reply reply =
      probe.Send({.method = "PUT", .path = "/v1/menu/products", .body = R"({"products":[]})"});
  finding.Invalid(reply, "products", "empty");
}

constexpr std::array kChecks = {
    Check{"A refusal is a problem document that explains itself",
          "2",
          "type, title, status, detail, instance (path, no query), code, request_id",
          Stage::kKey,
          {},
          DescribesProblems},
    Check{"A path that does not exist is 404",
          "2",
          "404 not_found",
          Stage::kKey,
          {},
          RefusesUnknownPaths},
    Check{"A method that a path has not is 405",
          "2",
          "405 method_not_allowed (with Allow)",
          Stage::kKey,
          {},
          RefusesWrongMethods},
    Check{"OPTIONS names the methods, HEAD is GET without body",
          "1",
          "HEAD is GET without body; OPTIONS 204 with Allow",
          Stage::kKey,
          {},
          TellsItsMethods,
          Promise::kContract},
    Check{"A request for another host is refused",
          "1",
          "Host allow-list (421, the defence against DNS rebinding)",
          Stage::kKey,
          {},
          RefusesForeignHosts,
          Promise::kContract},
    Check{"An unknown id is 404, a malformed one 422", "1",
          "A malformed id in a path is 422 on that parameter, an unknown one 404", Stage::kKey,
          Needs(Scope::kOrdersRead), RefusesUnknownIds},
    Check{"An unknown query parameter is refused and the right one named", "1",
          "400 invalid_parameter that names it and lists the allowed ones, with a special hint",
          Stage::kKey, Needs(Scope::kOrdersRead), RefusesUnknownParameters, Promise::kContract},
    Check{"A page that cannot be is refused", "6",
          "page from 1, per_page 1 to 100 (anything else 400); an empty value or a repeated "
          "parameter is 400",
          Stage::kKey, Needs(Scope::kOrdersRead), RefusesBadPages},
    Check{"An unknown sort is refused and the allowed ones listed", "6",
          "an unknown field: 400 that lists the allowed ones", Stage::kKey,
          Needs(Scope::kOrdersRead), RefusesBadSorts, Promise::kContract},
    Check{"A malformed filter is refused", "19",
          "A filter with a malformed value is 400 invalid_parameter", Stage::kKey,
          Needs(Scope::kOrdersRead), RefusesBadFilters},
    Check{"Broken JSON is refused", "1", "400 invalid_json; duplicate keys 400", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesBrokenJson, Promise::kContract},
    Check{"A body that is no JSON is 415", "1",
          "application/json (or none given; anything else 415 with a hint)", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesOtherContents},
    Check{"A body above 1 MiB is 413", "1", "at most 1 MiB", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesHugeBodies},
    Check{"An order without an Idempotency-Key is refused", "5",
          "Required on POST /v1/orders (400 missing_idempotency_key)", Stage::kKey,
          Needs(Scope::kOrdersWrite), RequiresAnIdempotencyKey},
    Check{"All wrong fields are named at once", "2",
          "All failing fields are reported at once, in document order", Stage::kKey,
          Needs(Scope::kOrdersWrite), NamesEveryWrongField},
    Check{"Fields of other endpoints and of the credential are refused", "7",
          "422 that names the endpoint to use; source, country_code, timezone, currency: 422 "
          "read_only",
          Stage::kKey, Needs(Scope::kOrdersWrite), RefusesOtherEndpointsFields, Promise::kContract},
    Check{"A delivery price is only for deliveries", "7",
          "address_id and delivery_price only for DELIVERY", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesFieldsOfOtherServices},
    Check{"A client who does not exist is refused", "7", "client_id must exist", Stage::kKey,
          Needs(Scope::kOrdersWrite), RefusesUnknownReferences},
    Check{"A method or a path of another service is refused", "18",
          "PUT .../status; POST .../accept: a 4xx that names the fix", Stage::kOrder,
          Needs(Scope::kOrdersWrite), RefusesOtherPaths, Promise::kContract},
    Check{"A parameter of another service is refused and the right one named", "18",
          "page[number], offset, start_date without filter[...]", Stage::kKey,
          Needs(Scope::kOrdersRead), RefusesOtherParameters, Promise::kContract},
    Check{"A field of another service is refused and the right one named", "1",
          "qty, price, unit_price are refused with the field to use, at the live address too",
          Stage::kOrder, Needs(Scope::kOrdersWrite), RefusesOtherFields, Promise::kContract},
    Check{"A price as a text is refused", "1",
          "JSON numbers only; a number sent as text is wrong_type", Stage::kOrder,
          Needs(Scope::kOrdersWrite), RefusesAmountsAsText, Promise::kContract},
    Check{"An upsert without products is refused", "19", "No rows: 422 empty", Stage::kKey,
          Needs(Scope::kMenuWrite), RefusesEmptyUpserts},
};

}  // namespace

std::span<const Check> MistakeChecks() { return kChecks; }

}  // namespace comanda::selftest
