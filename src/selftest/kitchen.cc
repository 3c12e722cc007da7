#include <array>

#include "base/id.h"
#include "base/time/clock.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr std::string_view kTickets = "/v1/kitchen/tickets";
constexpr std::array<std::string_view, 18> kTicketFields = {
    "order_id",     "revision", "state",         "order_number", "public_id", "status",
    "service_type", "source",   "table",         "name",         "comment",   "scheduled_for",
    "rush_at",      "out_at",   "cancel_reason", "canceled_at",  "opened_at", "lines"};
constexpr std::array<std::string_view, 13> kLineFields = {
    "id",      "station_id", "product_id",  "quantity", "name",    "variant", "modifiers",
    "comment", "added_at",   "canceled_at", "waits",    "done_at", "done_by"};

Reply Tell(Probe& probe, const TestOrder& order, std::string_view what, std::string body) {
  return probe.Send({.method = "POST",
                     .path = std::string(kTickets) + "/" + order.id() + "/" + std::string(what),
                     .body = std::move(body),
                     .headers = {"Idempotency-Key: " + probe.NewReference()}});
}

std::string Lines(const TestOrder& order, std::initializer_list<int> lines) {
  std::string body = R"({"line_ids":[)";
  for (const int line : lines) {
    if (body.back() != '[') body += ',';
    body += '"' + order.record.Text("data.combos." + std::to_string(line) + ".id") + '"';
  }
  return body + "]}";
}

// Makes the order with two lines with which all of these checks go on.
bool HasLines(Probe& probe, Finding& finding) {
  TestOrder& order = probe.kitchen;
  if (!order.exists()) {
    order = probe.Create(R"({"service_type":"ONSITE","order_title":"SELFTEST"})");
    if (order.exists()) {
      probe.Write(order, "POST", "combos",
                  R"({"combos":[{"product_name":"Selftest dish","quantity":2,"variant_price":1,)"
                  R"("modifiers":[{"name":"Selftest","quantity":3,"price":0}]},)"
                  R"({"product_name":"Selftest drink","quantity":1,"variant_price":1}]})");
    }
  }
  if (!order.record.Text("data.combos.1.id").empty()) return true;
  finding.NotChecked("no order with lines could be made");
  return false;
}

void ShowsATicket(Probe& probe, Finding& finding) {
  if (!HasLines(probe, finding)) return;
  const TestOrder& order = probe.kitchen;
  const Reply ticket = Tell(probe, order, "undo", Lines(order, {0}));
  if (!finding.Status(ticket, 200)) return;
  finding.Members(ticket.Find("data"), kTicketFields, "a ticket");
  finding.Members(ticket.Find("data.lines.0"), kLineFields, "a line");
  finding.Number(ticket, "data.lines.0.modifiers.0.quantity", "3");
  finding.Text(ticket, "data.state", "open");
  finding.Boolean(ticket, "data.lines.1.waits", true);
}

void ListsAndFollows(Probe& probe, Finding& finding) {
  const Reply list = probe.Get(std::string(kTickets) + "?per_page=100");
  if (!finding.Status(list, 200, "GET " + std::string(kTickets)) || !finding.List(list)) return;
  if (!finding.HasHeader(list, "X-Event-Cursor")) return;
  if (!HasLines(probe, finding)) return;
  const TestOrder& order = probe.kitchen;
  const Reply changes =
      probe.Get("/v1/kitchen/changes?after=" + list.HeaderOr("X-Event-Cursor", ""));
  if (!finding.Status(changes, 200, "GET /v1/kitchen/changes")) return;
  const std::vector<json::Value> rows = changes.Items("data");
  const bool is_told = !rows.empty() && TextAt(rows.back(), "order_id") == order.id();
  finding.True(is_told, "data", "the ticket of the order that was just made",
               std::to_string(rows.size()) + " tickets");
  finding.Set(changes, "next");
  finding.Problem(probe.Get("/v1/kitchen/changes?after=selftest"), 400, "invalid_parameter",
                  "?after=selftest");
}

void MarksMoveTheOrder(Probe& probe, Finding& finding) {
  if (!HasLines(probe, finding)) return;
  const TestOrder& order = probe.kitchen;
  const Reply first = Tell(probe, order, "done", Lines(order, {0}));
  if (!finding.Status(first, 200)) return;
  finding.Text(first, "data.status", "PREPARING");
  finding.Boolean(first, "data.lines.0.waits", false);
  const Reply second = Tell(probe, order, "done", Lines(order, {0, 1}));
  finding.Text(second, "data.status", "READY");
  finding.Text(second, "data.state", "ready");
  const Reply undone = Tell(probe, order, "undo", Lines(order, {1}));
  finding.Text(undone, "data.status", "READY");
  finding.Boolean(undone, "data.lines.1.waits", true);
}

void SendsOut(Probe& probe, Finding& finding) {
  if (!HasLines(probe, finding)) return;
  TestOrder& order = probe.kitchen;
  const Reply out = Tell(probe, order, "out", "{}");
  if (!finding.Status(out, 200)) return;
  finding.Text(out, "data.state", "closed");
  finding.Set(out, "data.out_at");
  probe.Write(order, "POST", "combos",
              R"({"combos":[{"product_name":"Selftest dessert","quantity":1,"variant_price":1}]})");
  const Reply opened = Tell(probe, order, "rush", R"({"on":true})");
  finding.Text(opened, "data.state", "open");
  finding.Null(opened, "data.out_at");
  finding.Set(opened, "data.rush_at");
  finding.Boolean(opened, "data.lines.0.waits", false);
  finding.Boolean(opened, "data.lines.2.waits", true);
}

void RefusesBadMarks(Probe& probe, Finding& finding) {
  if (!HasLines(probe, finding)) return;
  const TestOrder& order = probe.kitchen;
  finding.Invalid(Tell(probe, order, "done", "{}"), "line_ids", "required");
  finding.Invalid(Tell(probe, order, "done", R"({"line_ids":[]})"), "line_ids", "empty");
  finding.Invalid(Tell(probe, order, "done", Lines(order, {0, 0})), "line_ids[1]", "duplicate");
  const std::string unknown = NewId(SystemClock().Now());
  finding.Invalid(Tell(probe, order, "done", R"({"line_ids":[")" + unknown + "\"]}"), "line_ids[0]",
                  "not_found");
  finding.Invalid(Tell(probe, order, "rush", "{}"), "on", "required");
}

void ShowsStationsAndSettings(Probe& probe, Finding& finding) {
  const Reply stations = probe.Get("/v1/kitchen/stations");
  if (finding.Status(stations, 200, "GET /v1/kitchen/stations")) finding.List(stations);
  const Reply settings = probe.Get("/v1/kitchen/settings");
  if (!finding.Status(settings, 200, "GET /v1/kitchen/settings")) return;
  finding.Set(settings, "data.restaurant.timezone");
  finding.Set(settings, "data.lead_minutes");
  finding.Set(settings, "data.thresholds.TABLE.late_minutes");
}

constexpr auth::ScopeSet kReads = Needs(Scope::kKitchenRead);
constexpr auth::ScopeSet kAll =
    Needs(Scope::kKitchenRead, Scope::kKitchenWrite, Scope::kOrdersWrite);

constexpr std::array kChecks = {
    Check{"The kitchen is listed once and followed then", "20",
          "the tickets of all orders that changed after the cursor, each once and as it is now",
          Stage::kKey, kAll, ListsAndFollows, Promise::kContract},
    Check{"A ticket shows the dishes of an order", "20", "Ticket (one per order that has lines)",
          Stage::kKey, kAll, ShowsATicket, Promise::kContract},
    Check{"Marks on lines that are none are refused", "20",
          "no list required; empty empty; the same id twice duplicate; an unknown line not_found",
          Stage::kKey, kAll, RefusesBadMarks, Promise::kContract},
    Check{"Marks move an order, and undo does not", "20",
          "The first mark moves PENDING to PREPARING, the last line that waits to READY",
          Stage::kKey, kAll, MarksMoveTheOrder, Promise::kContract},
    Check{"A line that is added when the dishes are out waits alone", "20",
          "A line added later clears out_at and opens it again with that line alone", Stage::kKey,
          kAll, SendsOut, Promise::kContract},
    Check{"Stations and the kitchen's settings are shown", "20",
          "GET /v1/kitchen/stations, GET /v1/kitchen/settings", Stage::kKey, kReads,
          ShowsStationsAndSettings, Promise::kContract},
};

}  // namespace

std::span<const Check> KitchenChecks() { return kChecks; }

}  // namespace comanda::selftest
