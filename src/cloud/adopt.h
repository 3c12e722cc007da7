#pragma once

// Finds which row of an order in the cloud is which row here. The cloud gives its rows ids of its
// own, and the answer to a step shows all rows of the order: the new ones are those that no row of
// the image has yet. They are matched by content; equal rows are interchangeable. Pure.

#include <cstddef>

#include "cloud/cloud_record.h"
#include "cloud/image.h"
#include "orders/order.h"

namespace comanda::cloud {

// Gives rows of the image the cloud's ids: rows of the cloud's record that no row of the image has
// yet are matched to rows of `box` without one. A row of `box` that the image does not have is
// added to it, since the cloud has it already. Rows are matched by all that both sides show, then
// by all that the cloud shows, last by name and quantity alone: its prices may differ, which the
// totals tell. Rows without an id in the cloud are left out. Returns how many rows were matched.
// A discount that is removed here has no content to match by: it gets what is left.
size_t AdoptRows(Image& image, const orders::Order& box, const CloudRecord& cloud);

// Whether each row that the cloud's order has is one of `box`, by all that the cloud shows.
bool HasEachRow(const orders::Order& box, const CloudRecord& cloud);

}  // namespace comanda::cloud
