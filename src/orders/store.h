#pragma once

// The SQL of an order and its rows; that of the list is in list_store.h.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "orders/order.h"

namespace comanda::orders {

// A new order with all its rows, whose record will be the body of the event that is appended next.
// False, and nothing written, where the company has an order with that public_id already. Fills
// order.facet.
[[nodiscard]] bool Insert(db::Tx& tx, Order& order);

// Writes what differs: the order's row, new history, new or cancelled rows, changed or removed
// discounts. Fills after.facet.
void Update(db::Tx& tx, const Order& before, Order& after);

// The whole aggregate.
std::optional<Order> Select(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<std::string> SelectIdByPublicId(db::Session& session, db::CompanyId company,
                                              std::string_view public_id);

// The order that an Idempotency-Key made, with the fingerprint of the request.
struct Made {
  std::string id;
  std::string public_id;
  std::string fingerprint;
  int64_t created_seq = 0;
};
std::optional<Made> SelectByReference(db::Session& session, db::CompanyId company,
                                      std::string_view reference);
std::optional<std::string> SelectIdByExternalId(db::Session& session, db::CompanyId company,
                                                std::string_view source,
                                                std::string_view external_id);

// The record of an order as it is stored.
struct StoredRecord {
  int64_t version = 0;
  int64_t render_version = 0;
  std::optional<std::string> json;  // none: it has to be rendered
};
std::optional<StoredRecord> SelectRecord(db::Session& session, db::CompanyId company,
                                         std::string_view id);
// Where the record of the order is stored, and since when the order is closed.
struct RecordPlace {
  std::optional<int64_t> seq;
  std::optional<UtcMs> closed_at;
};
std::optional<RecordPlace> SelectRecordPlace(db::Session& session, db::CompanyId company,
                                             std::string_view id);
// From now on the record is rendered when it is read.
void ForgetRecord(db::Tx& tx, db::CompanyId company, std::string_view id);

// Facets: one for each combination of status, service type, source, paid and delivery status that
// orders of the company have or had, with the number of orders that have it now. They give exact
// totals without counting rows, and stand for the five values in the indexes of the list.

// The highest order number of those made in that time, the end excluded; 0: none.
int64_t SelectLastNumber(db::Session& session, db::CompanyId company, UtcMs begin, UtcMs end);

// The number of the company's last event: orders made later have a greater created_seq.
int64_t CurrentSeq(db::Session& session, db::CompanyId company);

// Every row of the room: for the sandbox alone.
void DeleteAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::orders
