#pragma once

// Takes one order as the cloud shows it (contract sections 15.3 to 15.5): a row of GET /v1/orders,
// the answer of GET /v1/orders/{id} or of a step, or the `data` of an event. Runs in the caller's
// transaction.
//
// - An order that the cloud made is stored with its figures (orders::TakeOver).
// - Of an order that this box made, status, rider and delivery status are merged: a status only
//   forward, a delivery status by its own order, the rider of the later change. CANCELLED wins,
//   unless active payments are here: then the order is parked as cancelled_but_paid. Totals that
//   differ, once every step is accepted, are a difference; nothing is corrected.
// - An unknown order whose reference an order here has is paired with it, never taken over.
//
//   Its creation, if it waits, is sent all the same: its key makes it harmless.
// - A record that is older than the one that was taken last, by its version, changes nothing:
// events
//   come after the answers to steps that were sent later.
//
// Who may change what: cloud/authority.h. The image (cloud/image.h) learns what the cloud has, so
// that the planner does not send it back.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/step.h"
#include "company/company.h"
#include "db/session.h"
#include "json/reader.h"
#include "orders/order.h"

namespace comanda::cloud {

enum class Taken : uint8_t {
  kUnchanged,   // nothing was written
  kWritten,     // an order here has changed, or was written
  kParked,      // cancelled in the cloud, paid here
  kUnreadable,  // UnreadableRecord (cloud/cloud_record.h), or too large: nothing was written
};

struct TakeSettings {
  const company::Company& company;
  // Candidates for the ten digits of a new order's public id (orders::CloudOrder).
  const std::vector<std::string>& public_numbers;
  // The name of the provider whose riders are users of the company, in the cloud and here.
  std::string_view rider_provider;
  std::string_view platform_name = "comanda";
  // The step of this box that the record answers, if it answers one: what it shows of that step is
  // no change of the cloud.
  const Step* answered = nullptr;
  // A step of the journal whose rows the cloud may have, although it refused it: they are matched
  // by content. Rows of other steps that wait get their ids from the answers to those.
  const Step* looked_for = nullptr;
};

// May drop steps that wait, where the cloud has cancelled the order. So a step whose answer the
// record is leaves the journal before.
Taken TakeOrder(db::Tx& tx, const TakeSettings& settings, json::Value record,
                const db::Stamp& stamp);

// The cloud answers 404 for the order with that id of its own. One that it made stays readable here
// and gets ORDER_DELETED; one of this box is parked as gone.
Taken TakeGone(db::Tx& tx, db::CompanyId company, std::string_view cloud_id,
               const db::Stamp& stamp);

// An order that was parked as cancelled_but_paid and whose payments a person has cancelled since
// becomes CANCELLED; steps that were not sent are dropped, with a difference. False where it is no
// such order. Called by the planner for each order that has changed.
bool FinishCancel(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                  const db::Stamp& stamp);

// Whether an order of the cloud can be the same as one here: its service type is the same, and each
// of its rows is one of the order's. False for a record that is unreadable.
bool MatchesWholly(db::Session& session, const company::Company& company,
                   const orders::Order& order, json::Value record);

}  // namespace comanda::cloud
