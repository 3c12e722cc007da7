#pragma once

// Finds which row of an order in the cloud is which local row. The cloud gives its rows ids of its
// own, and the answer to a step shows all rows of the order: the new ones are those that the step
// has made. Pure.
//
// A row whose step is pending gets its id from the answer to that step alone: a repeated step has
// the first answer again. So equal rows of which one is cancelled are not confused.

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "cloud/orders/cloud_record.h"
#include "cloud/orders/mirror.h"
#include "cloud/orders/step.h"
#include "orders/order.h"

namespace comanda::cloud {

// Ids of rows of this box.
using RowIds = std::set<std::string, std::less<>>;

// Gives the rows that an accepted step has added the ids in its answer. Rows of the record that no
// row of the mirror has are matched to them by content; what is left then, by position from the
// end: a discount that was removed locally has no content, and the cloud may show a row otherwise.
// Returns how many rows got an id; 0 for a step that adds none.
size_t MatchMade(Mirror& mirror, const orders::Order& box, const CloudRecord& cloud,
                 const Step& step);

// Gives the other rows their ids, by content: rows of the record that no row of the mirror has are
// matched to rows of `box` without an id, except those in `waiting`. A row of `box` that the mirror
// does not have is added to it, since the cloud has it already. Rows are matched by all that both
// sides show, then by all that the cloud shows, items last by name and quantity alone: its prices
// may differ, which the totals tell. Equal rows are interchangeable. Rows without an id in the
// cloud are left out. Returns how many rows were matched.
size_t MatchRows(Mirror& mirror, const orders::Order& box, const CloudRecord& cloud,
                 const RowIds& waiting = {});

// Whether each row that the cloud's order has is one of `box`, by all that the cloud shows.
bool HasEachRow(const orders::Order& box, const CloudRecord& cloud);

}  // namespace comanda::cloud
