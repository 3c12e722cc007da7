#pragma once

// The wire form of the room (contract sections 7 and 8): drafts from bodies; the record is in
// record.h.
//
// Every Read… throws one Refusal that lists all wrong fields. Each asks `decimals` where the body
// has money: those of the company's currency.

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
// A scheduled date in the past is left to the order: PastDateMessage() says what is wrong with it.
FieldsDraft ReadFields(Body body, int decimals, UtcMs now);
std::string PastDateMessage(UtcMs now);
std::vector<Combo> ReadCombos(Body body, int decimals);
PaymentDraft ReadPayment(Body body, int decimals);
Discount ReadDiscount(Body body, int decimals);
// Refusal use_cancel_endpoint for CANCELLED.
Status ReadStatus(Body body);
std::string ReadCancelReason(Body body);
// `platform_name` is the provider that names the company's own staff.
RiderDraft ReadRider(Body body, std::string_view platform_name);
DeliveryReport ReadDeliveryReport(Body body);

}  // namespace comanda::orders
