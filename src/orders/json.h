#pragma once

// Reads request bodies into drafts (contract sections 7 and 8). Rendering is in orders/record.h.
//
// Every Read… function throws one Refusal that lists all wrong fields. `decimals` is the number of
// decimals of the company's currency. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "orders/draft.h"
#include "orders/order.h"

namespace comanda::orders {

struct Body {
  const json::Document& document;
  json::UnknownFields unknown_fields;
};

OrderDraft ReadOrder(Body body, int decimals, UtcMs now);
// Accepts a scheduled date in the past: whether it is allowed depends on the order
// (FieldsDraft::past_date_judged_at). PastDateMessage() is the message for refusing it.
FieldsDraft ReadFields(Body body, int decimals, UtcMs now);
std::string PastDateMessage(UtcMs now);
std::vector<Combo> ReadCombos(Body body, int decimals);
PaymentDraft ReadPayment(Body body, int decimals);
Discount ReadDiscount(Body body, int decimals);
// Also throws Refusal use_cancel_endpoint, for CANCELLED.
Status ReadStatus(Body body);
std::string ReadCancelReason(Body body);
// `platform_name`: the value of `provider` for riders who are users of the company.
RiderDraft ReadRider(Body body, std::string_view platform_name);
DeliveryReport ReadDeliveryReport(Body body);

}  // namespace comanda::orders
