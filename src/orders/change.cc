#include "orders/change.h"

#include <string>
#include <utility>

#include "orders/record.h"
#include "orders/store.h"

namespace comanda::orders {

events::Event EventOf(const Order& order, events::Type type, events::Changes changes,
                      std::string_view record, std::string_view note) {
  return {.company_uuid = order.company_uuid,
          .type = type,
          .changes = changes,
          .subject_id = order.id,
          .subject_version = order.version,
          .body = record,
          .note = note};
}

Record WriteChange(db::Tx& tx, const Order& before, Order after, const Change& change,
                   const db::Stamp& stamp) {
  after.version = before.version + 1;
  after.updated_at = stamp.now;
  std::string record = Render(after);
  if (change.check) change.check(after, record);
  const events::Appended event = events::Append(
      tx, after.company, stamp, EventOf(after, change.type, change.changes, record, change.note));
  after.record_seq = event.seq;
  if (change.rows == Rows::kAll) {
    Replace(tx, before, after);
  } else {
    Update(tx, before, after);
  }
  if (before.record_seq && *before.record_seq < event.log_start) {
    events::DropRecord(tx, after.company, *before.record_seq);
  }
  return {after.id, after.version, std::move(record), event.seq};
}

}  // namespace comanda::orders
