#pragma once

// All SQL of the room, but for the lists that list.cc puts together.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "orders/buckets.h"
#include "orders/order.h"
#include "orders/record.h"

namespace comanda::orders {

// A new order with its first status and no rows. False, and nothing written, where the company has
// an order with that public_id already.
[[nodiscard]] bool Insert(db::Tx& tx, const Order& order);

// Writes what differs: the order's row, new history, new or cancelled rows, moved or removed
// discounts.
void Update(db::Tx& tx, const Order& before, const Order& after);

// The whole aggregate.
std::optional<Order> Select(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<std::string> SelectIdByPublicId(db::Session& session, db::CompanyId company,
                                              std::string_view public_id);

// The order that an Idempotency-Key made, with the fingerprint of the request.
struct Made {
  std::string id;
  std::string public_id;
  std::string fingerprint;
};
std::optional<Made> SelectByReference(db::Session& session, db::CompanyId company,
                                      std::string_view reference);

// -- the rendered record --------------------------------------------------------------------------

void PutRecord(db::Tx& tx, const Order& order, const Rendering& rendering);

// A row of order_record; its fragments are valid while it lives.
class RecordRow {
 public:
  explicit RecordRow(db::Rows row) : row_(std::move(row)) {}
  int64_t version() const { return row_.Int(0); }
  int64_t render_version() const { return row_.Int(1); }
  Fragments fragments() const { return {row_.View(2), row_.View(3), row_.View(4), row_.View(5)}; }

 private:
  db::Rows row_;
};
std::optional<int64_t> SelectVersion(db::Session& session, db::CompanyId company,
                                     std::string_view id);
std::optional<RecordRow> SelectRecord(db::Session& session, db::CompanyId company,
                                      std::string_view id);
// The same without the lists, which are not read from the disk then.
std::optional<RecordRow> SelectHead(db::Session& session, db::CompanyId company,
                                    std::string_view id);

// -- numbers for lists ----------------------------------------------------------------------------

// A combination of filtered values that some orders have.
struct Facet {
  int64_t facet = 0;
  Status status = Status::kPending;
  ServiceType service_type = ServiceType::kOnsite;
  std::string source;
  bool paid = false;
  std::optional<DeliveryStatus> delivery_status;
  int64_t orders = 0;  // how many have it; above 0
};
std::vector<Facet> SelectFacets(db::Session& session, db::CompanyId company);
int64_t CountOrders(db::Session& session, db::CompanyId company);
// The highest order number of those made in that time, the end excluded; 0: none.
int64_t SelectLastNumber(db::Session& session, db::CompanyId company, UtcMs begin, UtcMs end);

// Buckets of the tally in the order of a list, each facet for itself, until `pass` says no.
enum class Direction : uint8_t { kAscending, kDescending };
struct Buckets {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();  // included
};
void EachBucket(db::Session& session, db::CompanyId company, Tally tally, Buckets buckets,
                Direction direction,
                const std::function<bool(int64_t bucket, int64_t facet, int64_t orders)>& pass);

// Orders made after the snapshot, oldest first, but at most so many.
struct NewerOrder {
  SortKeys keys;
  int64_t facet = 0;
};
std::vector<NewerOrder> SelectNewer(db::Session& session, db::CompanyId company, int64_t snapshot,
                                    int64_t most);

// Where the event log stands: orders made later have a greater created_seq.
int64_t CurrentSeq(db::Session& session, db::CompanyId company);

// Every row of the room: for the sandbox alone.
void DeleteAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::orders
