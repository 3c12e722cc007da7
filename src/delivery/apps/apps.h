#pragma once

// The protocols in which apps are asked for their orders; SourceOf() (order_source.h) finds one.

#include "delivery/orders/order_source.h"

namespace comanda::delivery {

// iFood (developer.ifood.com.br, Events and Order API): a queue of events that are acknowledged,
// and calls below an order for what happens to it. A poll shows the store as open, unless it says
// otherwise.
const OrderSource& IfoodSource();

// Open Delivery, the standard of the Brazilian restaurants (Abrasel, versions 1.0 to 1.7): the same
// with other words.
const OrderSource& OpenDeliverySource();

// Keeta's edition of Open Delivery (api-docs.mykeeta.com). What is personal in an order comes
// encrypted, and one more call tells the plain texts.
const OrderSource& KeetaSource();

// Rappi (dev-portal.rappi.com, Orders). A list of new orders is given once; what it held is listed
// for ten minutes more, until it is taken. Rappi tells what becomes of an order by calls to a
// public address alone, which a box has not: an order that it cancels stays as it is here.
const OrderSource& RappiSource();

}  // namespace comanda::delivery
