#pragma once

// Merges one order as the cloud shows it (contract sections 15.3 to 15.5): a row of GET /v1/orders,
// the answer of GET /v1/orders/{id} or of a step, or the `data` of an event. Runs in the caller's
// transaction.
//
// - An order that the cloud made is stored with its figures (orders::Ingest).
// - Of an order that this box made, status, rider and delivery status are merged: a status only
//   forward, a delivery status by its own order, the rider of the later change. CANCELLED wins,
//   unless the local order has active payments: then the order is parked as cancelled_but_paid.
//   What differs once all is accepted is a difference (cloud/orders/sides.h); nothing is corrected.
// - An unknown order whose reference a local order has is paired with it, never taken over. Its
//   creation, if it is under way, is sent all the same: its key makes it harmless.
// - A record that is older than the one that was merged last, by its version, changes nothing: an
//   event may come after the answers to requests that were sent later.
//
// Who may change what: cloud/orders/authority.h; who wins: cloud/orders/merge.h. The mirror
// (cloud/orders/mirror.h) learns what the cloud has, so that it is not sent back. Which order it
// is: cloud/orders/match.h; an order of this box: cloud/orders/box_made.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/orders/pending.h"
#include "cloud/orders/step.h"
#include "company/company.h"
#include "db/session.h"
#include "json/reader.h"
#include "orders/order.h"

namespace comanda::cloud {

enum class Merged : uint8_t {
  kUnchanged,   // nothing was written
  kWritten,     // a local order has changed, or was written
  kParked,      // cancelled in the cloud, paid locally
  kUnreadable,  // UnreadableRecord (cloud/orders/cloud_record.h), or too large: nothing was written
};

struct MergeSettings {
  const company::Company& company;
  // Candidates for the ten digits of a new order's public id (orders::ExternalOrder).
  const std::vector<std::string>& public_numbers;
  SendRules rules;
  // The local name of the provider whose riders are users of the company.
  std::string_view platform_name = "comanda";
  // The request of this box that the record answers, if it answers one; it is no longer in the
  // journal. The next one is put into it, with what the record shows.
  const Step* answered = nullptr;
  // The request under way was refused, although the cloud may have its rows: they are matched by
  // content. Else they get their ids from its answer.
  bool looked_for = false;
  // The entity tag of the answer, which If-Match may name; empty: it has none.
  std::string_view etag = {};
};

// May drop the request under way, where the cloud has cancelled the order.
Merged MergeRecord(db::Tx& tx, const MergeSettings& settings, json::Value record,
                   const db::Stamp& stamp);

// The cloud answers 404 for the order with that id of its own. One that it made stays readable
// and gets ORDER_DELETED; one of this box is parked as gone.
Merged MergeGone(db::Tx& tx, db::CompanyId company, std::string_view cloud_id,
                 const db::Stamp& stamp);

// Whether an order of the cloud can be the same as a local one: its service type is the same, and
// each of its rows is one of the order's. False for a record that is unreadable.
bool MatchesWholly(db::Session& session, const company::Company& company,
                   const orders::Order& order, json::Value record);

}  // namespace comanda::cloud
