#pragma once

// What an order refers to in the rooms above it, looked up and taken over as it stands at that
// moment (contract section 7). A reference that leads nowhere is a Refusal with every wrong field.

#include <vector>

#include "db/session.h"
#include "orders/draft.h"
#include "orders/order.h"

namespace comanda::orders {

// Fills client, table and address of a new order, ids and snapshots.
void ReferToPeopleAndPlace(db::Session& session, const OrderDraft& draft, Order& order);

// Links the lines to the menu and takes over its names and stations where none were sent. An
// unknown sku leaves a free-form line that keeps it. Prices are never touched: the price sent is
// the truth.
void LinkToMenu(db::Session& session, db::CompanyId company, std::vector<Combo>& combos);

// The company's method, active and enabled for the service type.
PaidWith FindMethod(db::Session& session, db::CompanyId company, const PaymentDraft& draft,
                    ServiceType service_type);

// The rider that the draft names, for that order. The platform's must be an active user of role
// rider, and the order a DELIVERY order behind PENDING (specification, Rules for PUT rider).
Rider FindRider(db::Session& session, const RiderDraft& draft, const Order& order);

}  // namespace comanda::orders
