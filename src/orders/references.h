#pragma once

// Resolves the references of an order to clients, tables, addresses, the menu, payment methods and
// users, and copies what the order keeps of them: later changes of those records do not change the
// order (contract section 7). Refusal with every wrong field if a reference names nothing.

#include <string>
#include <vector>

#include "clients/clients.h"
#include "db/session.h"
#include "orders/draft.h"
#include "orders/order.h"

namespace comanda::orders {

// The JSON that an order keeps of a client or an address. One without an id is no row here: another
// channel named it.
std::string SnapshotOf(const clients::Client& client);
std::string SnapshotOf(const clients::Address& address);

// Sets client, table and address of a new order: the ids and the snapshots.
void ResolveClientAndTable(db::Session& session, const OrderDraft& draft, Order& order);

// Sets the ids of the menu in the lines, and names and stations that were not sent. A line with an
// unknown sku becomes a free-form line with that sku. Prices are not changed: the ones that the
// client sent are valid. Returns the lines whose product counts its stock.
std::vector<Combo*> LinkToMenu(db::Session& session, db::CompanyId company,
                               std::vector<Combo>& combos);

// The payment method of the draft. It must be active, and enabled for the service type unless
// it is the channel's own.
PaidWith FindMethod(db::Session& session, db::CompanyId company, const PaymentDraft& draft,
                    ServiceType service_type);

// The rider of the draft. A rider of the company must be an active user with the role rider, and
// the order must be a DELIVERY order after PENDING (specification, Rules for PUT rider).
Rider FindRider(db::Session& session, const RiderDraft& draft, const Order& order);

}  // namespace comanda::orders
