#pragma once

// The bodies of steps, as the endpoints of the specification read them: prices and quantities of
// items are those of one unit, as the till sent them, so that the cloud computes the same totals.
// Pure.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "aliases/aliases.h"
#include "cloud/orders/mirror.h"
#include "orders/order.h"

namespace comanda::cloud {

// The cloud's id of a record of this box, under the name of the field that refers to it; nothing
// where the cloud does not know the record: the field is then left out.
using Refer = std::function<std::optional<std::string>(std::string_view field, aliases::Kind kind,
                                                       const std::optional<std::string>& box_id)>;

// The references of `order` and these fields; null and zero are left out.
std::string PlaceBody(const orders::Order& order, const Fields& fields, const Refer& refer);
// The fields of `to` that differ from those of `from`, without the comment, which is `comment`: the
// cloud appends it. Nothing where there is nothing to send.
std::optional<std::string> FieldsBody(const Fields& from, const Fields& to,
                                      const std::optional<std::string>& comment, int decimals);
// Whether a body of FieldsBody() has a comment and nothing else. An order that is closed takes that
// alone (contract section 7).
bool HasCommentAlone(std::string_view fields_body);
std::string CombosBody(std::span<const orders::Combo* const> combos, int decimals,
                       const Refer& refer);
std::string DiscountBody(const orders::Discount& discount, int decimals);
std::string PaymentBody(const orders::Payment& payment, int decimals, const Refer& refer);
std::string StatusBody(orders::Status status);
// Nothing where the rider is a user that the cloud does not know.
std::optional<std::string> RiderBody(const orders::Rider& rider, std::string_view provider_there,
                                     const Refer& refer);
// `reason` is for NOT_DELIVERED.
std::string DeliveryBody(orders::DeliveryStatus status, const std::optional<std::string>& reason);
std::string CancelBody(const std::optional<std::string>& reason);

}  // namespace comanda::cloud
