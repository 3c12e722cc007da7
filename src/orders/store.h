#pragma once

// The SQL of an order and its rows; that of the list is in list_store.h.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "orders/check.h"
#include "orders/order.h"

namespace comanda::orders {

// A new order with all its rows, whose record will be the body of the event that is appended next.
// False, and nothing written, where the company has an order with that public_id already. Fills
// what the database keeps beside the order.
[[nodiscard]] bool Insert(db::Tx& tx, Order& order);

// Writes what differs: the order's row, new history, new or cancelled rows, changed or removed
// discounts. Fills what the database keeps beside the order, but for after.record_seq.
void Update(db::Tx& tx, const Order& before, Order& after);

// The whole aggregate. Fault kDamaged where its rows are not what was written (checksum.h).
std::optional<Order> Select(db::Session& session, db::CompanyId company, std::string_view id);
// Whether the order is there and has a checksum; those of an older program have none at first.
bool HasChecksum(db::Session& session, db::CompanyId company, std::string_view id);
void WriteChecksum(db::Tx& tx, const Order& order);
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

// Where the record of the order is stored, and since when the order is closed.
struct RecordPlace {
  int64_t version = 0;
  int64_t render_version = 0;
  std::optional<int64_t> seq;  // none: it has to be rendered
  std::optional<UtcMs> closed_at;
};
std::optional<RecordPlace> SelectRecordPlace(db::Session& session, db::CompanyId company,
                                             std::string_view id);
// From now on the record is rendered when it is read.
void ForgetRecord(db::Tx& tx, Order& order);

// For checks (check.h)

// At most `limit` before that one, the newest first.
std::vector<OrderKey> SelectKeysBefore(db::Session& session, db::CompanyId company,
                                       const OrderKey& before, int64_t limit);
// Whether order.facet stands for the order's values.
bool FacetFits(db::Session& session, const Order& order);
// How many facets count another number of orders than there are.
int64_t CountWrongFacets(db::Session& session, db::CompanyId company);
int64_t CountOrders(db::Session& session, db::CompanyId company);

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
