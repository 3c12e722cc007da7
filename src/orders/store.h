#pragma once

// The SQL of an order and its rows; the SQL of the list is in orders/list_store.h. Every function
// runs in the caller's transaction and throws Fault where SQLite fails.
//
// A facet is a combination of status, service type, source, paid and delivery status that orders of
// a company have or had, with the number of orders that have it now. Each order refers to its facet
// (Order::facet). The counts give exact totals of lists without counting rows; in the indexes of
// the list the facet takes the place of the five columns.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "orders/check.h"
#include "orders/order.h"

namespace comanda::orders {

// Inserts a new order with all its rows. `created_seq` is the seq of the event that will be
// appended with its record. Sets facet, created_seq, record_seq and render_version of the order.
// False, and nothing written, if an order of the company has this public_id.
[[nodiscard]] bool Insert(db::Tx& tx, Order& order, int64_t created_seq);

// Writes the rows that differ: the order, added history entries, added or cancelled rows, changed
// or removed discounts. Sets facet and render_version of `after`; the caller has set record_seq.
void Update(db::Tx& tx, const Order& before, Order& after);

// The same where everything but the id, the public id and the side that made it may differ, every
// row included: of an order that the cloud made (orders/external_order.h).
void Replace(db::Tx& tx, const Order& before, Order& after);

// Reads the order with all its rows. Fault kDamaged if the checksum does not match them
// (orders/checksum.h). The company's UUID becomes Order::company_uuid; empty: it is looked up.
std::optional<Order> Select(db::Session& session, db::CompanyId company, std::string_view id,
                            std::string_view company_uuid = {});
std::vector<std::string> SelectIdsAfter(db::Session& session, db::CompanyId company,
                                        std::string_view id, int64_t limit);
std::vector<std::string> SelectIdsChangedSince(db::Session& session, db::CompanyId company,
                                               UtcMs since);
// True if the order exists and has a checksum. Orders of older programs get theirs from the
// background check.
bool HasChecksum(db::Session& session, db::CompanyId company, std::string_view id);
void WriteChecksum(db::Tx& tx, const Order& order);
std::optional<std::string> SelectIdByPublicId(db::Session& session, db::CompanyId company,
                                              std::string_view public_id);

// The order that was placed with an Idempotency-Key, and the fingerprint of that request.
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

// Where the record of an order is stored (orders/record.h), and when the order was closed.
struct RecordLocation {
  int64_t version = 0;
  int64_t render_version = 0;
  std::optional<int64_t> seq;  // of the event; nothing: the record is not stored
  std::optional<UtcMs> closed_at;
};
std::optional<RecordLocation> SelectRecordLocation(db::Session& session, db::CompanyId company,
                                                   std::string_view id);
struct LocatedRecord {
  std::string id;  // of the order
  RecordLocation location;
};
std::optional<LocatedRecord> SelectRecordByPublicId(db::Session& session, db::CompanyId company,
                                                    std::string_view public_id);
// Marks the record as not stored: it is rendered when it is read.
void ForgetRecord(db::Tx& tx, Order& order);

// For checks (check.h)

// The keys of at most `limit` orders before that one, the newest first.
std::vector<OrderKey> SelectKeysBefore(db::Session& session, db::CompanyId company,
                                       const OrderKey& before, int64_t limit);
// True if order.facet is the facet of the order's values.
bool FacetFits(db::Session& session, const Order& order);
// The number of facets whose count is wrong.
int64_t CountWrongFacets(db::Session& session, db::CompanyId company);
int64_t CountOrdersOf(db::Session& session, db::CompanyId company, std::string_view source);
int64_t CountOrders(db::Session& session, db::CompanyId company);
// Whether there is an order of that source and origin that was created at that time or later.
bool HasOrderOf(db::Session& session, db::CompanyId company, std::string_view source, Origin origin,
                UtcMs since);

// The highest order number of the orders created from `begin` to before `end`; 0: there is none.
int64_t SelectLastNumber(db::Session& session, db::CompanyId company, UtcMs begin, UtcMs end);

// Deletes every row of the company's orders. For the reset of the sandbox alone.
void DeleteAll(db::Tx& tx, db::CompanyId company);

// The amounts of at most `limit` orders before that one, the newest first.
std::vector<OrderSum> SelectSumsBefore(db::Session& session, db::CompanyId company,
                                       const OrderKey& before, int64_t limit);

}  // namespace comanda::orders
