#pragma once

// Turns what an app reports into local orders (contract section 7). Every function runs in the
// caller's transaction, or reads; none calls the app.
//
// An event is applied once the local order has reached the state that it reports. Events may come
// twice, late and in any order: a status moves up only, and a cancel wins over everything but
// FINALIZED.

#include <optional>
#include <string>
#include <string_view>

#include "company/company.h"
#include "db/session.h"
#include "delivery/orders/order_source.h"
#include "delivery/orders/orders_store.h"
#include "delivery/provider.h"
#include "delivery/orders/whole_order.h"
#include "orders/orders.h"

namespace comanda::delivery {

// An order that is to be placed: what does not depend on the database is done.
struct Arrival {
  OrderRow row;  // without order_id
  Converted converted;
};
// From the order as the app shows it. Refusal where that is none.
Arrival Prepare(std::string_view details, const OrderSource& source, const Provider& provider,
                const company::Company& company, UtcMs received_at);

// Places the order, unless it exists.
void PlaceArrival(db::Tx& tx, const AccountKey& key, const company::Company& company,
                  Arrival arrival, const db::Stamp& stamp);

// Makes the order as the event says. False: its time has not come, it is to be tried again (an
// order for later is prepared when its preparation begins). The order must be placed.
bool Apply(db::Tx& tx, const AccountKey& key, const AppEvent& event, const db::Stamp& stamp);

// The app has accepted that the order is confirmed; `is_told_by_events`: it says so itself, too.
void NoteConfirmed(db::Tx& tx, const AccountKey& key, std::string_view external_id,
                   bool is_told_by_events, const db::Stamp& stamp);

// The order has reached the customer by what was set locally, and its app does not report that:
// what was to be paid at the door is paid.
void NoteHandedOver(db::Tx& tx, const AccountKey& key, std::string_view external_id,
                    const db::Stamp& stamp);

}  // namespace comanda::delivery
