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

constexpr std::array<std::string_view, 6> kDishFields = {"id",        "name",     "station_id",
                                                         "available", "sold_out", "modifiers"};
constexpr int64_t kHourMs = 60 * 60'000;

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

void ListsWhatWasMarked(Probe& probe, Finding& finding) {
  if (!HasLines(probe, finding)) return;
  const TestOrder& order = probe.kitchen;
  const std::string since = FormatInstant(SystemClock().Now() - kHourMs);
  const Reply done = Tell(probe, order, "done", Lines(order, {0}));
  if (!finding.Status(done, 200)) return;
  const Reply recall = probe.Get(std::string(kTickets) + "?per_page=1&filter[done_since]=" + since);
  if (!finding.Status(recall, 200)) return;
  finding.Text(recall, "data.0.order_id", order.id());
  finding.Set(recall, "data.0.lines.0.done_at");
  finding.Set(recall, "data.0.lines.0.done_by");
}

void FeedTellsOfTickets(Probe& probe, Finding& finding) {
  if (!HasLines(probe, finding)) return;
  const TestOrder& order = probe.kitchen;
  const std::string after =
      probe.Get(std::string(kTickets) + "?per_page=1").HeaderOr("X-Event-Cursor", "");
  const bool is_on = Tell(probe, order, "rush", R"({"on":true})").Text("data.rush_at").empty();
  const Reply rush = Tell(probe, order, "rush", is_on ? R"({"on":true})" : R"({"on":false})");
  if (!finding.Status(rush, 200)) return;
  const Reply events = probe.Get("/v1/events?after=" + after);
  for (const json::Value& event : events.Items("data")) {
    if (TextAt(event, "subject.id") != order.id()) continue;
    if (TextAt(event, "event_type") != "TICKET_UPDATED") continue;
    finding.Same("data[].subject.type", "ticket", TextAt(event, "subject.type"));
    finding.Same("data[].changes[0]", "rush", TextAt(event, "changes.0"));
    return;
  }
  finding.Differs("GET /v1/events", "a TICKET_UPDATED of the order", "none");
}

// On orders of their own, which are cancelled.
TestOrder OneLine(Probe& probe) {
  TestOrder order = probe.Create(R"({"service_type":"ONSITE","order_title":"SELFTEST"})");
  if (order.exists()) {
    probe.Write(order, "POST", "combos",
                R"({"combos":[{"product_name":"Selftest dish","quantity":1,"variant_price":1}]})");
  }
  return order;
}

void StartsAndCancels(Probe& probe, Finding& finding) {
  TestOrder order = OneLine(probe);
  if (order.record.Text("data.combos.0.id").empty()) {
    return finding.NotChecked("no order with a line could be made");
  }
  const Reply started = Tell(probe, order, "start", "{}");
  if (!finding.Status(started, 200)) return;
  finding.Text(started, "data.status", "PREPARING");
  finding.Text(Tell(probe, order, "start", "{}"), "data.status", "PREPARING");
  const std::string line = Lines(order, {0});
  probe.Write(order, "POST", "cancel", R"({"reason":"comanda selftest"})");
  const Reply cancelled = Tell(probe, order, "undo", line);
  finding.Text(cancelled, "data.state", "cancelled");
  finding.Boolean(cancelled, "data.lines.0.waits", false);
  finding.Set(cancelled, "data.canceled_at");
  const Reply seen = Tell(probe, order, "done", line);
  finding.Text(seen, "data.state", "closed");
  finding.Text(seen, "data.status", "CANCELLED");
}

void ShowsAMenuWithoutPrices(Probe& probe, Finding& finding) {
  const Reply menu = probe.Get("/v1/kitchen/menu");
  if (!finding.Status(menu, 200, "GET /v1/kitchen/menu")) return;
  const std::vector<json::Value> categories = menu.Items("data.categories");
  if (categories.empty()) return finding.NotChecked("the menu has no products");
  finding.Members(menu.Find("data.categories.0.products.0"), kDishFields, "a product");
  finding.True(!menu.Find("data.categories.0.products.0.price"), "data", "no price", "one");
}

void RefusesBadStations(Probe& probe, Finding& finding) {
  const auto send = [&](std::string method, std::string path, std::string body) {
    return probe.Send({.method = std::move(method),
                       .path = "/v1/kitchen/" + std::move(path),
                       .body = std::move(body)});
  };
  finding.Invalid(send("POST", "stations", R"({"name":""})"), "name", "empty");
  finding.Invalid(send("POST", "stations", R"({"prepares":true})"), "name", "required");
  const std::string nobody = "stations/" + NewId(SystemClock().Now());
  finding.Problem(send("PATCH", nobody, R"({"name":"SELFTEST"})"), 404, "not_found");
  finding.Invalid(send("PATCH", "settings", R"({"lead_minutes":1441})"), "lead_minutes",
                  "out_of_range");
}

// Nobody is let in: the request is refused again.
void LetsADeviceAsk(Probe& probe, Finding& finding) {
  const auto send = [&](std::string path, std::string body, bool with_key) {
    return probe.Send({.method = "POST",
                       .path = std::move(path),
                       .body = std::move(body),
                       .with_key = with_key,
                       .patient = false});
  };
  const Reply asked = send("/auth/pair/requests", R"({"role":"kitchen","name":"SELFTEST"})", false);
  if (asked.status() == 429) return finding.NotChecked("two devices of this address ask already");
  if (!finding.Status(asked, 201)) return;
  const std::string number = asked.Text("data.number");
  const std::string collect = R"({"request":")" + asked.Text("data.request") + "\"}";
  finding.True(number.size() == 6, "data.number", "six digits", number);
  finding.Text(send("/auth/pair", collect, false), "data.state", "waiting");
  const Reply shown = send("/box/devices/accept", R"({"number":")" + number + "\"}", true);
  finding.Status(shown, 200);
  finding.Text(shown, "data.name", "SELFTEST");
  finding.Text(shown, "data.role", "kitchen");
  const Reply refused = probe.Send({.method = "DELETE", .path = "/box/devices/requests/" + number});
  finding.Status(refused, 200);
  const Reply ended = send("/auth/pair", collect, false);
  if (ended.status() == 429) {
    return finding.NotChecked("this address has sent too many unknown keys and codes");
  }
  finding.Problem(ended, 404, "not_found");
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
    Check{"What was marked is listed, last first", "20",
          "filter[done_since] (for recall: any state, newest mark first)", Stage::kKey, kAll,
          ListsWhatWasMarked, Promise::kContract},
    Check{"The feed tells of tickets", "6", "kitchen:read for TICKET_UPDATED", Stage::kKey, kAll,
          FeedTellsOfTickets, Promise::kContract},
    Check{"A cancelled order stays until the kitchen has seen it", "20",
          "cancelled: a line that counted and had no mark has not been touched since", Stage::kKey,
          kAll, StartsAndCancels, Promise::kContract},
    Check{"The kitchen's menu has no price", "20",
          "categories, products, modifiers, sold_out; no price", Stage::kKey, kReads,
          ShowsAMenuWithoutPrices, Promise::kContract},
    Check{"Stations and settings that cannot be are refused", "20",
          "admin:write: name required, lead_minutes to 1,440", Stage::kKey,
          Needs(Scope::kAdminWrite), RefusesBadStations, Promise::kContract},
    Check{"A device asks, and waits until somebody types its number", "3",
          "POST /auth/pair/requests, POST /box/devices/accept, DELETE /box/devices/requests/…",
          Stage::kKey, Needs(Scope::kAdminWrite), LetsADeviceAsk, Promise::kContract},
    Check{"Stations and the kitchen's settings are shown", "20",
          "GET /v1/kitchen/stations, GET /v1/kitchen/settings", Stage::kKey, kReads,
          ShowsStationsAndSettings, Promise::kContract},
};

}  // namespace

std::span<const Check> KitchenChecks() { return kChecks; }

}  // namespace comanda::selftest
