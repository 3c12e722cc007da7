#include <algorithm>
#include <array>

#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

// The kitchen sees this order until it is cancelled.
constexpr std::string_view kTakeAway =
    R"({"service_type":"TAKEAWAY","order_title":"SELFTEST","comment":"comanda selftest, please ignore"})";
// The same request in another serialisation, as a till may send it after a restart.
constexpr std::string_view kTakeAwayAgain =
    R"({ "comment": "comanda selftest, please ignore", "order_title": "SELFTEST", "service_type": "TAKEAWAY" })";

constexpr std::array<std::string_view, 54> kOrderFields = {"id",
                                                           "public_id",
                                                           "order_number",
                                                           "business_day",
                                                           "reference",
                                                           "company_id",
                                                           "source",
                                                           "country_code",
                                                           "timezone",
                                                           "currency",
                                                           "version",
                                                           "status",
                                                           "foreign_status",
                                                           "service_type",
                                                           "status_history",
                                                           "delivery_status",
                                                           "delivery_status_reason",
                                                           "delivered_by",
                                                           "rider",
                                                           "pending_at",
                                                           "preparing_at",
                                                           "ready_at",
                                                           "delivered_at",
                                                           "finalized_at",
                                                           "canceled_at",
                                                           "closed_at",
                                                           "cancel_reason",
                                                           "scheduled_delivery_date",
                                                           "created_at",
                                                           "updated_at",
                                                           "client_id",
                                                           "client",
                                                           "table_id",
                                                           "table",
                                                           "address_id",
                                                           "address",
                                                           "comment",
                                                           "order_title",
                                                           "delivery_comment",
                                                           "subtotal",
                                                           "total_discounts",
                                                           "delivery_price",
                                                           "packaging_price",
                                                           "service_fee_price",
                                                           "total_tips",
                                                           "total",
                                                           "total_paid",
                                                           "pending_amount",
                                                           "overpayment",
                                                           "paid",
                                                           "paid_at",
                                                           "combos",
                                                           "payments",
                                                           "discounts"};

Reply Repeat(Probe& probe, std::string_view body) {
  return probe.Send({.method = "POST",
                     .path = "/v1/orders",
                     .body = std::string(body),
                     .headers = {"Idempotency-Key: " + probe.take_away.reference}});
}

void CreatesAnOrder(Probe& probe, Finding& finding) {
  if (probe.May(Scope::kOrdersRead)) {
    probe.event_cursor = probe.Get("/v1/orders?per_page=1").HeaderOr("X-Event-Cursor", "");
  }
  probe.take_away = probe.Create(std::string(kTakeAway));
  const TestOrder& order = probe.take_away;
  if (!finding.Status(order.created, 201)) return;
  finding.Note(order.reference);
  finding.Same("header Location", order.Path(), order.created.HeaderOr("Location", "none"));
  if (!probe.May(Scope::kCompaniesRead)) probe.LearnCurrency(order.created.Text("data.currency"));
}

void BelongsToTheCompany(Probe& probe, Finding& finding) {
  const TestOrder& order = probe.take_away;
  finding.Text(order.created, "data.status", "PENDING");
  finding.Text(order.created, "data.service_type", "TAKEAWAY");
  finding.Text(order.created, "data.source", "API");
  finding.Text(order.created, "data.reference", order.reference);
  finding.Number(order.created, "data.version", "1");
  for (const std::string_view name : {"currency", "country_code", "timezone"}) {
    const std::string path = "data." + std::string(name);
    if (probe.company.Find(path)) {
      finding.Text(order.created, path, probe.company.Text(path));
    }
  }
}

void HasEveryField(Probe& probe, Finding& finding) {
  finding.Members(probe.take_away.created.Find("data"), kOrderFields, "the order");
}

void BeginsEmpty(Probe& probe, Finding& finding) {
  const Reply& order = probe.take_away.created;
  for (const std::string_view name : {"combos", "payments", "discounts"}) {
    finding.Empty(order, "data." + std::string(name));
  }
  for (const std::string_view name :
       {"subtotal", "total_discounts", "delivery_price", "packaging_price", "service_fee_price",
        "total_tips", "total_paid", "pending_amount", "overpayment"}) {
    finding.Number(order, "data." + std::string(name), "0");
  }
  finding.Boolean(order, "data.paid", false);
}

void HasAShortPublicId(Probe& probe, Finding& finding) {
  const Reply& order = probe.take_away.created;
  const std::string id = order.Text("data.public_id");
  const std::string country = order.Text("data.country_code");
  const std::string digits = id.substr(std::min(id.size(), country.size() + 1));
  const bool met = id.starts_with(country + "-") && digits.size() == 10 && digits[0] != '0' &&
                   digits.find_first_not_of("0123456789") == std::string::npos;
  finding.True(met, "data.public_id", country + "- and ten digits", Shown(id));
}

void RepeatsTheFirstAnswer(Probe& probe, Finding& finding) {
  const TestOrder& order = probe.take_away;
  const Reply again = Repeat(probe, kTakeAway);
  if (!finding.Status(again, order.created.status())) return;
  finding.Same("body of the repeat", order.created.answer().body, again.answer().body);
  for (const std::string_view header : {"ETag", "Location"}) {
    finding.Same("header " + std::string(header), order.created.HeaderOr(header, "none"),
                 again.HeaderOr(header, "none"));
  }
  finding.Same("header Idempotency-Replayed", "true",
               again.HeaderOr("Idempotency-Replayed", "none"));
}

void KnowsTheSameBody(Probe& probe, Finding& finding) {
  const Reply again = Repeat(probe, kTakeAwayAgain);
  if (!finding.Status(again, probe.take_away.created.status())) return;
  finding.Text(again, "data.id", probe.take_away.id());
}

void RefusesAnotherBody(Probe& probe, Finding& finding) {
  finding.Problem(Repeat(probe, R"({"service_type":"ONSITE"})"), 422, "idempotency_key_reused");
}

void ShowsTheOrder(Probe& probe, Finding& finding) {
  const TestOrder& order = probe.take_away;
  const Reply by_id = probe.Get(order.Path());
  if (finding.Status(by_id, 200, "the order by its id")) {
    finding.SameRecord("the order by its id", order.record.Find("data"), by_id.Find("data"));
  }
  const Reply by_public_id = probe.Get("/v1/orders/" + order.record.Text("data.public_id"));
  if (finding.Status(by_public_id, 200, "the order by its public id")) {
    finding.Text(by_public_id, "data.id", order.id());
  }
}

void TagsTheOrder(Probe& probe, Finding& finding) {
  const Reply order = probe.Get(probe.take_away.Path());
  if (!finding.HasHeader(order, "ETag")) return;
  const std::string tag = order.HeaderOr("ETag", "");
  finding.True(tag.starts_with('"'), "header ETag", "a strong tag", Shown(tag));
  finding.Status(probe.Get(probe.take_away.Path(), {"If-None-Match: " + tag}), 304,
                 "status with If-None-Match");
}

void ListsTheOrder(Probe& probe, Finding& finding) {
  const Reply list = probe.Get("/v1/orders?filter[reference]=" + probe.take_away.reference);
  if (!finding.List(list)) return;
  finding.Number(list, "pagination.total", "1");
  finding.SameRecord("the row of the list", probe.take_away.record.Find("data"),
                     list.Find("data.0"));
}

void FiltersOrders(Probe& probe, Finding& finding) {
  const std::string own = "/v1/orders?filter[reference]=" + probe.take_away.reference;
  const Reply open = probe.Get(own + "&filter[status]=pending,PREPARING");
  finding.Number(open, "pagination.total", "1");
  const Reply other = probe.Get(own + "&filter[service_type]=DELIVERY");
  finding.Number(other, "pagination.total", "0");
  const Reply since =
      probe.Get(own + "&filter[updated_since]=" + probe.take_away.record.Text("data.updated_at"));
  finding.Number(since, "pagination.total", "1");
}

void LeavesListsOut(Probe& probe, Finding& finding) {
  const Reply list =
      probe.Get("/v1/orders?filter[include]=none&filter[reference]=" + probe.take_away.reference);
  const auto row = list.Find("data.0");
  if (!finding.True(row.has_value(), "data", "one row", "none")) return;
  for (const std::string_view name : {"combos", "payments", "discounts"}) {
    finding.True(!Find(row, name), std::string(name), "left out", "present");
  }
}

void AppendsComments(Probe& probe, Finding& finding) {
  const std::string before = probe.take_away.record.Text("data.comment");
  const Reply reply = probe.Write(probe.take_away, "PATCH", "", R"({"comment":"second line"})");
  if (finding.Status(reply, 200)) finding.Text(reply, "data.comment", before + "\nsecond line");
}

void RefusesWrongEdits(Probe& probe, Finding& finding) {
  TestOrder& order = probe.take_away;
  finding.Invalid(probe.Write(order, "PATCH", "", R"({"status":"READY"})"), "status", "not_allowed",
                  "a status in PATCH");
  finding.Problem(probe.Write(order, "PATCH", "", "{}"), 422, "validation_failed",
                  "an empty PATCH");
}

void GuardsAgainstLostEdits(Probe& probe, Finding& finding) {
  TestOrder& order = probe.take_away;
  const auto version = order.record.Find("data.version");
  if (!version || version->kind() != json::Kind::kNumber) {
    return finding.NotChecked("the order shows no version");
  }
  finding.Problem(
      probe.Write(order, "PATCH", "", R"({"order_title":"SELFTEST!"})", {"If-Match: \"1000000\""}),
      412, "precondition_failed", "a version that was never");
  const Reply current = probe.Write(order, "PATCH", "", R"({"order_title":"SELFTEST"})",
                                    {"If-Match: \"" + std::string(version->number_text()) + "\""});
  finding.Status(current, 200, "the current version");
}

constexpr std::array kChecks = {
    Check{"An order is created", "7", "POST /v1/orders: 201 with Location", Stage::kKey,
          Needs(Scope::kOrdersWrite), CreatesAnOrder},
    Check{"A new order is PENDING and takes what it is from the key's company", "7",
          "created as PENDING; source, country_code, timezone, currency come from the credential; "
          "reference is the Idempotency-Key; the first version is 1",
          Stage::kOrder, Needs(Scope::kOrdersWrite), BelongsToTheCompany},
    Check{"An order shows every documented field", "1",
          "every documented field is always present, null when empty", Stage::kOrder,
          Needs(Scope::kOrdersWrite), HasEveryField},
    Check{"A new order has no items and no money", "7", "JSON numbers only; lists are empty",
          Stage::kOrder, Needs(Scope::kOrdersWrite), BeginsEmpty},
    Check{"An order has a short public id", "7",
          "public_id: <country>-<10 digits>, first digit 1 to 9", Stage::kOrder,
          Needs(Scope::kOrdersWrite), HasAShortPublicId},
    Check{
        "A repeat with the same Idempotency-Key gets the first answer", "5",
        "the first status, body, ETag and Location byte for byte, with Idempotency-Replayed: true",
        Stage::kOrder, Needs(Scope::kOrdersWrite), RepeatsTheFirstAnswer},
    Check{"A repeat written differently is still the same request", "5",
          "canonical JSON: a till that re-serialises after a restart is still the same request",
          Stage::kOrder, Needs(Scope::kOrdersWrite), KnowsTheSameBody, Promise::kContract},
    Check{"The same Idempotency-Key with another body is refused", "5",
          "same key, other body: 422 idempotency_key_reused", Stage::kOrder,
          Needs(Scope::kOrdersWrite), RefusesAnotherBody, Promise::kContract},
    Check{"The order is shown by its id and by its public id", "7",
          "{id} is the UUID or public id; write answers carry exactly the bytes that GET gives",
          Stage::kOrder, Needs(Scope::kOrdersRead), ShowsTheOrder},
    Check{"An unchanged order is answered with 304", "6",
          "an ETag: of one record strong; If-None-Match gives 304", Stage::kOrder,
          Needs(Scope::kOrdersRead), TagsTheOrder, Promise::kContract},
    Check{"The list finds the order by its reference, as the same record", "7",
          "Rows are full records; filter reference", Stage::kOrder, Needs(Scope::kOrdersRead),
          ListsTheOrder, Promise::kContract},
    Check{"Orders are filtered by status, service type and time of change", "7",
          "Enums: case-insensitive in filters; status (comma list); updated_since (>=)",
          Stage::kOrder, Needs(Scope::kOrdersRead), FiltersOrders, Promise::kContract},
    Check{"A list can leave out what is below the orders", "7",
          "filter[include]=none gives order-level fields alone; a list left out is absent",
          Stage::kOrder, Needs(Scope::kOrdersRead), LeavesListsOut, Promise::kContract},
    Check{"A comment is appended to the one before", "7", "Comment is appended on a new line",
          Stage::kOrder, Needs(Scope::kOrdersWrite), AppendsComments},
    Check{"An edit of the status or of nothing is refused", "7",
          "At least one known field, else 422; status in the body: 422 naming PATCH .../status",
          Stage::kOrder, Needs(Scope::kOrdersWrite), RefusesWrongEdits, Promise::kContract},
    Check{"If-Match keeps one edit from undoing another", "6",
          "Writes on an order accept If-Match; a mismatch is 412 precondition_failed",
          Stage::kOrder, Needs(Scope::kOrdersWrite), GuardsAgainstLostEdits, Promise::kContract},
};

}  // namespace

std::span<const Check> CreatingChecks() { return kChecks; }

}  // namespace comanda::selftest
