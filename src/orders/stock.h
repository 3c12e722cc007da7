#pragma once

// The stock that the lines of an order take and return (contract section 7, Combos). Runs in the
// caller's transaction.

#include <span>
#include <string>
#include <vector>

#include "db/session.h"
#include "orders/order.h"

namespace comanda::orders {

// Takes the stock of the combos, where it is counted. A shortage refuses nothing, since the guest
// has been promised the food: it is returned as the note of the event, {"stock_warning":[…]}; empty
// if there is none.
std::string DeductStock(db::Tx& tx, db::CompanyId company, std::vector<Combo*> linked,
                        const db::Stamp& stamp);

// Returns the stock that the combos took, and sets stock_taken to 0, so that it happens once.
void GiveStockBack(db::Tx& tx, db::CompanyId company, std::span<Combo> combos,
                   const db::Stamp& stamp);

}  // namespace comanda::orders
