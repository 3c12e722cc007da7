#include <array>

#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr Minor kDeliveryPrice = 455;

Reply Report(Probe& probe, std::string_view status) {
  return probe.Write(probe.delivery, "PATCH", "delivery-status",
                     Filled(R"({"delivery_status":"$"})", {std::string(status)}));
}

void CreatesADelivery(Probe& probe, Finding& finding) {
  probe.delivery = probe.Create(
      Filled(R"({"service_type":"DELIVERY","order_title":"SELFTEST","delivery_price":$,)"
             R"("comment":"comanda selftest, please ignore"})",
             {probe.Amount(kDeliveryPrice)}));
  if (!finding.Status(probe.delivery.created, 201)) return;
  finding.Note(probe.delivery.reference);
  finding.Number(probe.delivery.created, "data.delivery_price", probe.Amount(kDeliveryPrice));
  finding.Null(probe.delivery.created, "data.delivery_status");
}

void AssignsARider(Probe& probe, Finding& finding) {
  const Reply reply =
      probe.Write(probe.delivery, "PUT", "rider",
                  R"({"user_id":"selftest-7","name":"Selftest Rider","phone_number":"5550100"})");
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.rider.user_id", "selftest-7");
  finding.Text(reply, "data.rider.provider", "api");
  finding.Text(reply, "data.rider.name", "Selftest Rider");
  finding.Text(reply, "data.delivery_status", "RIDER_ASSIGNED");
}

void UnassignsTheRider(Probe& probe, Finding& finding) {
  const Reply reply = probe.Write(probe.delivery, "DELETE", "rider");
  if (!finding.Status(reply, 200)) return;
  finding.Null(reply, "data.rider");
  finding.Null(reply, "data.delivery_status");
}

void RefusesNobody(Probe& probe, Finding& finding) {
  finding.Problem(probe.Write(probe.delivery, "PUT", "rider", R"({"provider":"api"})"), 422,
                  "validation_failed");
}

void IsOnTheWay(Probe& probe, Finding& finding) {
  const Reply reply = Report(probe, "DRIVER_ON_THE_WAY_TO_DESTINATION");
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.delivery_status", "DRIVER_ON_THE_WAY_TO_DESTINATION");
  finding.Text(reply, "data.delivered_by", "API");
  finding.Text(reply, "data.status", "READY");
}

void NeverGoesBack(Probe& probe, Finding& finding) {
  const Reply before = probe.delivery.record;
  const Reply reply = Report(probe, "DRIVER_ARRIVED_AT_STORE");
  if (!finding.Status(reply, 200)) return;
  finding.SameRecord("the order", before.Find("data"), reply.Find("data"));
}

void KnowsFailures(Probe& probe, Finding& finding) {
  finding.Invalid(probe.Write(probe.delivery, "PATCH", "delivery-status",
                              R"({"delivery_status":"DELIVERED","reason":"selftest"})"),
                  "reason", "not_allowed", "a reason with another status");
  const Reply reply = probe.Write(probe.delivery, "PATCH", "delivery-status",
                                  R"({"delivery_status":"NOT_DELIVERED","reason":"selftest"})");
  if (!finding.Status(reply, 200, "with a reason")) return;
  finding.Text(reply, "data.delivery_status_reason", "selftest");
  finding.Invalid(Report(probe, "DELIVERED"), "delivery_status", "illegal_move",
                  "NOT_DELIVERED to DELIVERED");
  finding.Status(Report(probe, "DRIVER_ON_THE_WAY_TO_DESTINATION"), 200, "on the way again");
}

void IsDelivered(Probe& probe, Finding& finding) {
  const Reply reply = Report(probe, "DELIVERED");
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.delivery_status", "DELIVERED");
  finding.Text(reply, "data.status", "DELIVERED");
}

void RefusesRidersWithoutDelivery(Probe& probe, Finding& finding) {
  const Reply reply = probe.Write(probe.take_away, "PATCH", "delivery-status",
                                  R"({"delivery_status":"DELIVERED"})");
  finding.True(reply.status() == 422, "a delivery status of an order to take away", "422",
               reply.Described());
}

// Closing: the total of the order is 0 when it is finalised.

void ChangesTheDeliveryPrice(Probe& probe, Finding& finding) {
  const Reply reply = probe.Write(probe.delivery, "PATCH", "", R"({"delivery_price":0})");
  if (!finding.Status(reply, 200)) return;
  finding.Number(reply, "data.delivery_price", "0");
}

bool CostsNothing(const Probe& probe, Finding& finding) {
  if (probe.MinorOf(probe.delivery.record.Find("data.total")) == Minor{0}) return true;
  finding.NotChecked("an order with a total is not finalised by this walk");
  return false;
}

void ClosesTheOrder(Probe& probe, Finding& finding) {
  if (!CostsNothing(probe, finding)) return;
  const Reply reply = probe.Write(probe.delivery, "PATCH", "status", R"({"status":"FINALIZED"})");
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.status", "FINALIZED");
  finding.Set(reply, "data.closed_at");
}

void LeavesClosedOrdersAlone(Probe& probe, Finding& finding) {
  if (probe.delivery.record.Text("data.status") != "FINALIZED") {
    return finding.NotChecked("the order was not finalised");
  }
  finding.Problem(
      probe.Write(
          probe.delivery, "POST", "combos",
          R"({"combos":[{"product_name":"Selftest late","quantity":1,"variant_price":1}]})"),
      422, "order_closed", "an item");
  finding.Problem(
      probe.Write(probe.delivery, "POST", "discounts", R"({"type":"AMOUNT","value":1})"), 422,
      "order_closed", "a discount");
}

void CancelsAfterAll(Probe& probe, Finding& finding) {
  if (probe.delivery.record.Text("data.status") != "FINALIZED") {
    return finding.NotChecked("the order was not finalised");
  }
  const Reply reply =
      probe.Write(probe.delivery, "POST", "cancel", R"({"reason":"comanda selftest"})");
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.status", "CANCELLED");
}

constexpr auth::ScopeSet kOrders = Needs(Scope::kOrdersWrite);
constexpr auth::ScopeSet kLogistics = Needs(Scope::kLogisticsWrite, Scope::kOrdersWrite);

constexpr std::array kChecks = {
    Check{"A delivery is created with its price", "7", "delivery_price (only for DELIVERY)",
          Stage::kKey, kOrders, CreatesADelivery},
    Check{"A rider of one's own is assigned", "8",
          "api: at least one of user_id and name; user_id comes back as it was sent; it sets "
          "RIDER_ASSIGNED",
          Stage::kDeliveryOrder, kLogistics, AssignsARider},
    Check{"A rider is taken back", "8",
          "on a DELIVERY order it sets RIDER_ASSIGNED, and DELETE takes just that back",
          Stage::kDeliveryOrder, kLogistics, UnassignsTheRider},
    Check{"A rider without id and name is refused", "8", "api: at least one of user_id and name",
          Stage::kDeliveryOrder, kLogistics, RefusesNobody},
    Check{"A rider on the way makes the order READY", "8",
          "On the way lifts the order to READY (implied); delivered_by becomes API",
          Stage::kDeliveryOrder, kLogistics, IsOnTheWay},
    Check{"An earlier delivery status changes nothing", "8", "Same or earlier: 200 unchanged",
          Stage::kDeliveryOrder, kLogistics, NeverGoesBack},
    Check{"NOT_DELIVERED has a reason and leads only back on the way", "8",
          "NOT_DELIVERED (with reason), and from it only back to on-the-way; another move out of "
          "it 422 "
          "illegal_move; reason with another status is 422 not_allowed",
          Stage::kDeliveryOrder, kLogistics, KnowsFailures, Promise::kContract},
    Check{"What is delivered makes the order DELIVERED", "8", "DELIVERED to DELIVERED",
          Stage::kDeliveryOrder, kLogistics, IsDelivered},
    Check{"Only deliveries have a delivery status", "8", "Only DELIVERY orders, not CANCELLED",
          Stage::kOrder, kLogistics, RefusesRidersWithoutDelivery},
    Check{"The delivery price is changed", "7",
          "delivery_comment and delivery_price accepted only on DELIVERY orders",
          Stage::kDeliveryOrder, kOrders, ChangesTheDeliveryPrice},
    Check{"An order is finalised", "7", "FINALIZED; closed_at (finalized or cancelled)",
          Stage::kDeliveryOrder, kOrders, ClosesTheOrder},
    Check{"A finalised order takes no items and no discounts", "7", "FINALIZED: 422 order_closed",
          Stage::kDeliveryOrder, kOrders, LeavesClosedOrdersAlone},
    Check{"A finalised order can still be cancelled", "7", "allowed from every state but CANCELLED",
          Stage::kDeliveryOrder, kOrders, CancelsAfterAll},
};

}  // namespace

std::span<const Check> DeliveryChecks() { return kChecks; }

}  // namespace comanda::selftest
