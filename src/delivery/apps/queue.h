#pragma once

// What iFood and Open Delivery have in common: a queue of events that are given again until they
// are acknowledged, and orders that differ in the names of some members. Pure.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/orders/amounts.h"
#include "delivery/orders/order_reading.h"
#include "delivery/orders/order_source.h"
#include "json/writer.h"

namespace comanda::delivery {

// A credential; empty where there is none.
std::string ValueOf(const Variables& account, const std::string& name);

// The events of an array, or of {"events": […]}. One without an order is of no consequence here,
// and is acknowledged all the same; one for which `read` throws Refusal, because it has no id, is
// left out. Nothing where the answer is no such list.
using ReadEvent = std::function<AppEvent(const OrderReading& event)>;
std::optional<Report> ReadQueue(const json::Value& answer, const ReadEvent& read);

// Calls of at most `at_once` events each; `write` writes the members of one.
using WriteEvent = std::function<void(json::Writer& out, const AppEvent& event)>;
std::vector<OrderCall> AcknowledgeQueue(const std::vector<AppEvent>& events, std::string path,
                                        size_t at_once, const WriteEvent& write);

// The names of members in which the protocols differ.
struct OrderNames {
  std::string_view type;  // of the order: DELIVERY, TAKEOUT …
  std::string_view line_comment;
  std::array<std::string_view, 2> option_price;  // of the whole line: the first that is there
  std::string_view discounts, discount_amount;   // the array, and the member of its items
  std::string_view total_discount;               // of all of them
  std::string_view street, street_number, area;  // of delivery.deliveryAddress
  // What is dialled behind the number: its member of customer.phone, and how a ticket shows it.
  std::string_view extension, extension_label;
  std::string_view scheduled_for;
};
// What both protocols say of an order; fees and discounts, and what else differs, are left to the
// caller. Refusal as OrderSource::Map().
AppOrder ReadOrder(const OrderReading& order, const OrderNames& names);
// The forms in which the discounts are told, for ChooseAmounts(): by who pays for them, by
// themselves, all in one, none.
std::vector<Discounts> DiscountsOf(const OrderReading& order, const OrderNames& names);

// Keeta gives such texts encrypted.
bool IsEncrypted(std::string_view text);

}  // namespace comanda::delivery
