#pragma once

// The functions of the room for other rooms: everything that can be done with an order
// (specification, Orders; contract sections 7, 8 and 13).
//
// The functions that take a Tx are the commands. A command runs in the caller's transaction and
// depends on nothing but (tx, input, stamp), so that the transaction can be repeated. It checks, in
// this order: the order exists (not_found); the row named in the path exists (not_found); the
// version is the one that the caller expects (Target::require_version); references; the rules of
// the order's state. Then it computes prices, raises the version by one, writes the rows that
// differ, renders the record and appends exactly one event. A command that would change nothing
// writes nothing and returns the current record.
//
// Errors: Refusal for what a check finds; Fault kDamaged if rows of the order are damaged and the
// function says nothing else.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "db/session.h"
#include "orders/draft.h"
#include "orders/order.h"
#include "orders/record.h"

namespace comanda::orders {

// An order as GET shows it.
struct Record {
  std::string id;
  int64_t version = 0;
  std::string json;
  std::optional<int64_t> event_seq = {};  // of the event that the command appended; none: no change
  bool was_remade = false;                // rendered from the rows: the stored record is damaged
};

// Reading

// The key of an order is its UUID or its public id, such as "PE-7222853393". Returns the text in
// the stored spelling; nothing if it is neither.
std::optional<std::string> NormalisedKey(std::string_view text);

// The UUID of the order with that key. The ids that the cloud gave to an order lead to it too
// (aliases/aliases.h). Nothing if no order has the public id. A UUID that is no alias is returned
// without looking the order up.
std::optional<std::string> FindUuid(db::Session& session, db::CompanyId company,
                                    std::string_view id_or_public_id);

// The record of the order with that key, as FindUuid() and Find() would find it.
std::optional<Record> FindByKey(db::Session& session, db::CompanyId company,
                                std::string_view id_or_public_id);

// The record of the order with that UUID. Uses the stored record; if that is missing, damaged or of
// an older render version, renders it from the rows. Fault kDamaged if they are needed and damaged.
std::optional<Record> Find(db::Session& session, db::CompanyId company, std::string_view id);
// The order with that UUID and all its rows.
std::optional<Order> Load(db::Session& session, db::CompanyId company, std::string_view id);
// The version of the order with that UUID.
std::optional<int64_t> VersionOf(db::Session& session, db::CompanyId company, std::string_view id);
// The UUID of the order that was placed with this Idempotency-Key, or that the cloud shows with it.
std::optional<std::string> FindByReference(db::Session& session, db::CompanyId company,
                                           std::string_view reference);
// The ids of the orders behind that one, in the order of their ids, at most `limit`.
std::vector<std::string> FindIdsAfter(db::Session& session, db::CompanyId company,
                                      std::string_view id, int64_t limit);
// The ids of the orders that were changed since then.
std::vector<std::string> FindIdsChangedSince(db::Session& session, db::CompanyId company,
                                             UtcMs since);
// The number of orders that came through other channels than the API, on either side.
int64_t CountOfOtherChannels(db::Session& session, db::CompanyId company);

// Whether the cloud has brought an order of that source that was created at that time or later.
bool HasComeFromCloud(db::Session& session, db::CompanyId company, std::string_view source,
                      UtcMs since);

// The record of version 1: what the creation gave. Nothing where its event is purged or damaged.
std::optional<std::string> FirstRecord(db::Session& session, const Order& order);

// The body of an event of an order. If the event is damaged, but belongs to the order's current
// version, the body is rendered from the rows. Fault kDamaged if that is impossible too.
std::optional<std::string> EventBody(db::Session& session, db::CompanyId company, int64_t seq);

// The result of placing an order: a new order, or the one that an earlier request with the same
// Idempotency-Key has placed.
struct Placed {
  Record record;
  enum class Answer : uint8_t {
    kCreated,     // this call placed the order
    kFirstAgain,  // an earlier one did; `record` is the record of that time
    kAsItIsNow,   // an earlier one did, but its event is purged; `record` is the current one
  };
  Answer answer = Answer::kCreated;
};

// The order that was placed with this Idempotency-Key, at any time (contract section 5). Refusal
// idempotency_key_reused if `fingerprint` is not that of the request that placed it.
std::optional<Placed> FindPlaced(db::Session& session, db::CompanyId company,
                                 std::string_view reference, std::string_view fingerprint);

// Placing

// The values of a new order that do not come from the body. Random ones are made outside of the
// transaction, which may be repeated.
struct Placement {
  std::string id;
  // Candidates for the ten digits of the public id; the first free one is used.
  std::vector<std::string> public_numbers;
  std::string source = std::string(kApiSource);
  std::optional<std::string> reference, fingerprint;
  std::string actor;
  // When the order was made; nothing: when it is written. It dates the order, and chooses the
  // business day of its number (contract section 15, Dates).
  std::optional<UtcMs> occurred_at = {};
};

// Random candidates for Placement::public_numbers. There are so many numbers that one of them is
// free.
std::vector<std::string> PublicNumbers();

// Places an order. If the reference has placed one before, returns that one and writes nothing.
Placed Place(db::Tx& tx, const company::Company& company, const OrderDraft& draft,
             const Placement& placement, const db::Stamp& stamp);

// Changing

// The order to change, the caller, and the version that the caller expects.
struct Target {
  db::CompanyId company;
  std::string key;                // as NormalisedKey() returns it
  std::string actor;              // orders/permission.h; written to the status history
  RequestKey request_key = {};    // written to the rows that the command adds
  std::string company_uuid = {};  // empty: it is looked up
  // When the change was made; nothing: when it is written. It dates rows and statuses.
  std::optional<UtcMs> occurred_at = {};
  // Throws if the order's version is not the expected one (If-Match). Empty: any version.
  std::function<void(int64_t version)> require_version = {};
};

Record EditFields(db::Tx& tx, const Target& target, const FieldsDraft& fields,
                  const db::Stamp& stamp);

// The caller has made the ids of new combos, modifiers, payments and discounts.
Record AddCombos(db::Tx& tx, const Target& target, std::vector<Combo> combos,
                 const db::Stamp& stamp);
Record CancelCombo(db::Tx& tx, const Target& target, std::string_view combo_id,
                   const db::Stamp& stamp);
Record Pay(db::Tx& tx, const Target& target, const PaymentDraft& draft, const db::Stamp& stamp);
Record CancelPayment(db::Tx& tx, const Target& target, std::string_view payment_id,
                     const db::Stamp& stamp);
Record AddDiscount(db::Tx& tx, const Target& target, Discount discount, const db::Stamp& stamp);
Record RemoveDiscount(db::Tx& tx, const Target& target, std::string_view discount_id,
                      const db::Stamp& stamp);

// Moves the order to a later status. The same or an earlier one changes nothing. `status` is one of
// kLife (orders/lifecycle.h).
Record Advance(db::Tx& tx, const Target& target, Status status, const db::Stamp& stamp);
Record Cancel(db::Tx& tx, const Target& target, std::string_view reason, const db::Stamp& stamp);

Record AssignRider(db::Tx& tx, const Target& target, const RiderDraft& draft,
                   const db::Stamp& stamp);
Record UnassignRider(db::Tx& tx, const Target& target, const db::Stamp& stamp);
Record ReportDelivery(db::Tx& tx, const Target& target, const DeliveryReport& report,
                      const db::Stamp& stamp);

// Stored records

// For the purge of the event log (events/retention.h).

// True if the body of that event is the stored record of the order (orders/record.h).
bool HoldsRecord(db::Session& session, db::CompanyId company, std::string_view id, int64_t seq);
// Marks the record as not stored if the order was closed before that time, and returns true: the
// record is rendered from the rows from then on. False, and no change, for other orders.
bool ReleaseRecord(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs closed_before);

// Deletes every order of a company. For the reset of the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::orders
