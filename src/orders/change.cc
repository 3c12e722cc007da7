#include "orders/change.h"

#include <optional>
#include <utility>

#include "base/problem.h"
#include "company/companies.h"
#include "orders/record.h"
#include "orders/size.h"
#include "orders/store.h"

namespace comanda::orders {
namespace {

// The record as it is stored, and the first seq of the log.
struct Announced {
  Record record;
  int64_t log_start = 1;
};

// Appends the event whose body is the record.
Announced Announce(events::HeldCounters& counters, const Order& order, const Change& change,
                   const db::Stamp& stamp) {
  std::string record = Render(order);
  if (change.check) change.check(order, record);
  const events::Appended event = counters.Append(stamp, {.company_uuid = order.company_uuid,
                                                         .type = change.type,
                                                         .changes = change.changes,
                                                         .subject_id = order.id,
                                                         .subject_version = order.version,
                                                         .body = record,
                                                         .note = change.note});
  return {{order.id, order.version, std::move(record), event.seq}, event.log_start};
}

void TakeNumber(db::Tx& tx, const company::Company& company, events::HeldCounters& counters,
                Order& order) {
  company::OrderNumber taken = company::TakeOrderNumber(
      counters, company, order.created_at,
      [&](UtcMs begin, UtcMs end) { return SelectLastNumber(tx, order.company, begin, end); });
  order.order_number = taken.number;
  order.business_day = std::move(taken.business_day);
}

// Candidates are random numbers: one that is taken is rare.
void InsertUnderFreePublicId(db::Tx& tx, Order& order, const std::vector<std::string>& numbers,
                             int64_t created_seq) {
  const bool has_own = NormalisedKey(order.public_id) == order.public_id;
  if (has_own && Insert(tx, order, created_seq)) return;
  for (const std::string& number : numbers) {
    order.public_id = order.country_code + "-" + number;
    if (Insert(tx, order, created_seq)) return;
  }
  throw Fault(Fault::Kind::kUnavailable, "every candidate for a public id is taken");
}

}  // namespace

Record WriteNew(db::Tx& tx, const company::Company& company, Order order, const Creation& creation,
                const db::Stamp& stamp) {
  order.version = 1;
  order.updated_at = stamp.now;
  events::HeldCounters counters(tx, order.company);
  if (!creation.has_number) TakeNumber(tx, company, counters, order);
  InsertUnderFreePublicId(tx, order, creation.public_numbers, counters.next_seq());
  const Change change = {
      .type = events::Type::kOrderCreated,
      .note = creation.note,
      .check = [](const Order&, std::string_view record) { RequireSizeOfWhole(record); }};
  return Announce(counters, order, change, stamp).record;
}

Record WriteChange(db::Tx& tx, const Order& before, Order after, const Change& change,
                   const db::Stamp& stamp) {
  after.version = before.version + 1;
  after.updated_at = stamp.now;
  events::HeldCounters counters(tx, after.company);
  Announced announced = Announce(counters, after, change, stamp);
  after.record_seq = announced.record.event_seq;
  if (change.rows == Rows::kAll) {
    Replace(tx, before, after);
  } else {
    Update(tx, before, after);
  }
  if (before.record_seq && *before.record_seq < announced.log_start) {
    events::DropRecord(tx, after.company, *before.record_seq);
  }
  return std::move(announced.record);
}

}  // namespace comanda::orders
