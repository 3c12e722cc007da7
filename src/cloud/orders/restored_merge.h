#pragma once

// What a box that was restored from a backup has lost of an order that was in it (contract section
// 15.5): the lost box had sent more of the order than the mirror of the backup knows, so the cloud
// has it. A three-way merge over that mirror, of what belongs to the box alone: rows and fields.
// State, rider and delivery are merged as ever (cloud/orders/merge.h). Pure.
//
// - A row of the cloud that the mirror does not know, and that is none of the order's, was added by
//   the lost box: it comes back, with the cloud's id where that is a UUID.
// - A row that the cloud has cancelled, and a discount that it no longer has, were ended by it.
//   A discount that waited in the backup, and was sent and removed since, leaves no trace there: it
//   is sent again under its key, which makes nothing, and the differences tell it.
// - A field that the cloud has otherwise was changed by it, unless it was changed locally since the
//   restore: that is sent. Comments grow on both sides.

#include "cloud/orders/cloud_record.h"
#include "cloud/orders/mirror.h"
#include "orders/order.h"

namespace comanda::cloud {

// The mirror must name the rows that both sides have (MatchRows, cloud/orders/row_match.h); it
// learns what the cloud has. `is_as_restored`: nobody has changed the local order since the
// restore, so what the cloud has otherwise is newer. True where `here` has changed; its prices are
// to be computed then.
bool MergeRestored(orders::Order& here, Mirror& mirror, const CloudRecord& record,
                   bool is_as_restored);

// The mirror learns the fields that the record shows.
void LearnFields(Fields& mirror, const CloudRecord& record);

}  // namespace comanda::cloud
