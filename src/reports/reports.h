#pragma once

// The face of the room: sums over the orders themselves, so that they always equal them (contract
// section 17, invariant 7). Rows come by id, free-form lines by name.

#include <vector>

#include "db/session.h"
#include "reports/report.h"

namespace comanda::reports {

std::vector<MethodRow> ByPaymentMethods(db::Session& session, const Question& question);
std::vector<TipRow> ByTips(db::Session& session, const Question& question);

enum class Lines : uint8_t { kProducts, kProductsWithModifiers, kFreehand };
std::vector<SoldRow> ProductsSold(db::Session& session, const Question& question, Lines lines);

// Sales by quantity, rounded half away from zero to the minor unit, once.
Minor AveragePrice(Minor total_sales, int64_t quantity_thousandths);

}  // namespace comanda::reports
