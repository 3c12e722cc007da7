#include <array>

#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr int kEventPagesMax = 50;
constexpr std::string_view kCancelReason = "comanda selftest";

Reply Move(Probe& probe, std::string_view status) {
  return probe.Write(probe.take_away, "PATCH", "status",
                     Filled(R"({"status":"$"})", {std::string(status)}));
}

// Requests a status that the order has passed, and expects no change.
void CheckUnmoved(Probe& probe, std::string_view status, Finding& finding) {
  const Reply before = probe.take_away.record;
  const Reply reply = Move(probe, status);
  if (!finding.Status(reply, 200)) return;
  finding.SameRecord("the order", before.Find("data"), reply.Find("data"));
}

void StaysWhereItIs(Probe& probe, Finding& finding) { CheckUnmoved(probe, "PENDING", finding); }

void JumpsAhead(Probe& probe, Finding& finding) {
  const Reply reply = Move(probe, "READY");
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.status", "READY");
  finding.Set(reply, "data.preparing_at");
  finding.Set(reply, "data.ready_at");
}

void TellsImpliedSteps(Probe& probe, Finding& finding) {
  const Reply& order = probe.take_away.record;
  if (order.Text("data.status") != "READY") return finding.NotChecked("the order did not move");
  const auto between = order.Row("data.status_history", "status", "PREPARING");
  finding.Same("implied of PREPARING", "true", Shown(Find(between, "implied")));
  const auto asked = order.Row("data.status_history", "status", "READY");
  finding.Same("implied of READY", "false", Shown(Find(asked, "implied")));
}

void NeverGoesBack(Probe& probe, Finding& finding) { CheckUnmoved(probe, "PREPARING", finding); }

void SendsCancelsElsewhere(Probe& probe, Finding& finding) {
  finding.Problem(Move(probe, "CANCELLED"), 422, "use_cancel_endpoint");
}

void RefusesOtherWords(Probe& probe, Finding& finding) {
  finding.Invalid(Move(probe, "ACCEPTED"), "status", "unknown_value", "ACCEPTED");
}

// Following the event feed.

// True if the feed since before the order has an event of this type for it, with this change.
bool FindEvent(Probe& probe, std::string_view type, std::string_view change, Finding& finding) {
  std::string cursor = probe.event_cursor;
  for (int page = 0; page < kEventPagesMax; ++page) {
    const Reply events = probe.Get("/v1/events?per_page=100&after=" + cursor);
    if (!finding.Status(events, 200)) return true;
    for (const json::Value& event : events.Items("data")) {
      if (TextAt(event, "subject.id") != probe.take_away.id()) continue;
      if (TextAt(event, "event_type") != type) continue;
      if (change.empty()) return true;
      const auto changes = Find(event, "changes");
      if (!changes || changes->kind() != json::Kind::kArray) continue;
      for (const json::Value& named : changes->items()) {
        if (TextAt(named, "") == change) return true;
      }
    }
    const std::string next = events.Text("next");
    if (events.Items("data").empty() || next.empty() || next == cursor) return false;
    cursor = next;
  }
  return false;
}

void AnnouncesTheOrder(Probe& probe, Finding& finding) {
  if (!finding.True(!probe.event_cursor.empty(), "header X-Event-Cursor of GET /v1/orders",
                    "present", "missing")) {
    return;
  }
  finding.True(FindEvent(probe, "ORDER_CREATED", "", finding), "the feed after that cursor",
               "ORDER_CREATED of the order", "no such event");
}

void AnnouncesTheMove(Probe& probe, Finding& finding) {
  if (probe.event_cursor.empty()) return finding.NotChecked("there is no cursor to follow from");
  finding.True(FindEvent(probe, "ORDER_UPDATED", "status", finding), "the feed after that cursor",
               "ORDER_UPDATED of the order with status among its changes", "no such event");
}

void RefusesForeignCursors(Probe& probe, Finding& finding) {
  finding.Problem(probe.Get("/v1/events?after=selftest"), 400, "invalid_parameter");
}

void HoldsAPoll(Probe& probe, Finding& finding) {
  const std::string path = "/v1/orders?per_page=1";
  const std::string tag = probe.Get(path).HeaderOr("ETag", "");
  if (tag.empty()) return finding.NotChecked("the list has no ETag");
  const Reply held = probe.Get(path, {"If-None-Match: " + tag, "Prefer: wait=1"});
  finding.True(held.status() == 304 || held.status() == 200, "status", "304, or 200 with news",
               held.Described());
  if (held.status() == 304) {
    finding.Same("header Preference-Applied", "wait=1",
                 held.HeaderOr("Preference-Applied", "none"));
  }
}

// Cancelling.

Reply Cancel(Probe& probe, std::string_view reason) {
  return probe.Write(probe.take_away, "POST", "cancel",
                     Filled(R"({"reason":"$"})", {std::string(reason)}));
}

void AsksForAReason(Probe& probe, Finding& finding) {
  finding.Invalid(probe.Write(probe.take_away, "POST", "cancel", "{}"), "reason", "required");
}

void CancelsTheOrder(Probe& probe, Finding& finding) {
  const Reply reply = Cancel(probe, kCancelReason);
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.status", "CANCELLED");
  finding.Text(reply, "data.cancel_reason", kCancelReason);
  finding.Set(reply, "data.canceled_at");
  finding.Set(reply, "data.closed_at");
}

bool IsCancelled(const Probe& probe, Finding& finding) {
  if (probe.take_away.record.Text("data.status") == "CANCELLED") return true;
  finding.NotChecked("the order could not be cancelled");
  return false;
}

void KeepsTheFirstReason(Probe& probe, Finding& finding) {
  if (!IsCancelled(probe, finding)) return;
  const Reply before = probe.take_away.record;
  const Reply reply = Cancel(probe, "another reason");
  if (!finding.Status(reply, 200)) return;
  finding.SameRecord("the order", before.Find("data"), reply.Find("data"));
}

void LeavesCancelledOrdersAlone(Probe& probe, Finding& finding) {
  if (!IsCancelled(probe, finding)) return;
  finding.Problem(Move(probe, "FINALIZED"), 422, "order_cancelled", "a status");
  finding.Problem(
      probe.Write(
          probe.take_away, "POST", "combos",
          R"({"combos":[{"product_name":"Selftest late","quantity":1,"variant_price":1}]})"),
      422, "order_cancelled", "an item");
}

constexpr auth::ScopeSet kWrite = Needs(Scope::kOrdersWrite);

constexpr std::array kChecks = {
    Check{"The status that an order has already changes nothing", "7",
          "the same or an earlier one: 200 unchanged", Stage::kOrder, kWrite, StaysWhereItIs},
    Check{"A status further ahead is reached in one request", "7", "a jump fills the steps between",
          Stage::kOrder, kWrite, JumpsAhead},
    Check{"The steps between are marked as implied", "7",
          "implied: true for the steps that a jump filled in", Stage::kOrder, kWrite,
          TellsImpliedSteps, Promise::kContract},
    Check{"An earlier status changes nothing", "7", "the same or an earlier one: 200 unchanged",
          Stage::kOrder, kWrite, NeverGoesBack},
    Check{"CANCELLED is no status to move to", "7", "CANCELLED: 422 use_cancel_endpoint",
          Stage::kOrder, kWrite, SendsCancelsElsewhere},
    Check{"A status that does not exist is refused", "18", "statuses ACCEPTED or REJECTED",
          Stage::kOrder, kWrite, RefusesOtherWords},
    Check{"The event feed tells of a new order", "6",
          "GET /v1/orders answers X-Event-Cursor: list once, then follow, without a gap",
          Stage::kOrder, Needs(Scope::kOrdersRead), AnnouncesTheOrder, Promise::kContract},
    Check{"The event feed tells of a change of status", "13",
          "changes[] out of status, combos, payments, ...; a jump over several steps is one row",
          Stage::kOrder, Needs(Scope::kOrdersRead), AnnouncesTheMove, Promise::kContract},
    Check{"A cursor that is none is refused", "19", "a cursor that is none is 400", Stage::kKey,
          Needs(Scope::kOrdersRead), RefusesForeignCursors, Promise::kContract},
    Check{"A poll that asks to wait is held", "6",
          "Prefer: wait together with If-None-Match holds the answer; Preference-Applied",
          Stage::kKey, Needs(Scope::kOrdersRead), HoldsAPoll, Promise::kContract},
    Check{"A cancel needs a reason", "7", "POST .../cancel {\"reason\": ...} (1 to 500)",
          Stage::kOrder, kWrite, AsksForAReason},
    Check{"An order is cancelled", "7", "allowed from every state but CANCELLED", Stage::kOrder,
          kWrite, CancelsTheOrder},
    Check{"A second cancel changes nothing", "7", "a repeat is 200 unchanged with the first reason",
          Stage::kOrder, kWrite, KeepsTheFirstReason},
    Check{"A cancelled order is left alone", "7", "a CANCELLED order: 422 order_cancelled",
          Stage::kOrder, kWrite, LeavesCancelledOrdersAlone},
};

}  // namespace

std::span<const Check> LifeChecks() { return kChecks; }

}  // namespace comanda::selftest
