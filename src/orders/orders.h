#pragma once

// The face of the room: what can be done with an order (specification, Orders; contract sections 7,
// 8 and 13). The till's API, delivery apps and the cloud all come in here.
//
// Every command runs in the caller's transaction, is a pure function of (tx, input, stamp) and may
// run again. It checks in this order: the order (not_found), the row named (not_found), what the
// caller has seen (Target::require_version), references, the order's state. Then it prices the
// order, raises its version by one, stores what differs, renders the record and writes exactly one
// event. A command that would change nothing writes nothing and returns the record as it stands.

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
  std::optional<int64_t> event_seq = {};  // after a change: the event that was written
  bool was_remade = false;                // the stored one is damaged: this is made from the rows
};

// Reading

// "PE-7222853393" or a UUID, as it is stored; nothing where the text is neither.
std::optional<std::string> NormalisedKey(std::string_view text);

// The UUID for a UUID (not looked up) or the public id of an order of the company.
std::optional<std::string> FindUuid(db::Session& session, db::CompanyId company,
                                    std::string_view id_or_public_id);

// By UUID. A record that is not stored, damaged, or of an older render version, is rendered. Fault
// kDamaged where the order's rows are damaged too.
std::optional<Record> Find(db::Session& session, db::CompanyId company, std::string_view id);
// The body of an event. Where the event is damaged and announced the version that the order has
// now, it is made again from the order's rows. Fault kDamaged where it cannot be.
std::optional<std::string> EventBody(db::Session& session, db::CompanyId company, int64_t seq);

// The answer to a creation that is repeated.
struct Placed {
  Record record;
  enum class Answer : uint8_t {
    kCreated,     // by this call
    kFirstAgain,  // it had been placed: the record as it was then
    kAsItIsNow,   // it had been placed so long ago that its first event is no longer kept
  };
  Answer answer = Answer::kCreated;
};

// The order that this Idempotency-Key made, however long ago (contract section 5): its first
// record while the event log has it, else the record as it is now. Refusal idempotency_key_reused
// where the request was another one.
std::optional<Placed> FindPlaced(db::Session& session, db::CompanyId company,
                                 std::string_view reference, std::string_view fingerprint);

// Placing

// What the caller brings to a new order beside the draft.
struct Placement {
  std::string id;
  // Candidates for the ten digits of the public id; the first that is free is taken.
  std::vector<std::string> public_numbers;
  std::string source = std::string(kApiSource);
  std::optional<std::string> reference, fingerprint;
  std::string actor;
};

// Where the reference made an order before, nothing is written.
Placed Place(db::Tx& tx, const company::Company& company, const OrderDraft& draft,
             const Placement& placement, const db::Stamp& stamp);

// An order that another channel took whole: a delivery app, the cloud, a kiosk.
struct WholeOrder {
  // The id that the channel gave it: unique within the channel, Placement::source. Empty for
  // source API alone.
  std::string external_id;
  // How far it has come there: in the life (lifecycle.h).
  Status status = Status::kPending;
  // Service type, references with their snapshots, texts, prices, fee; combos with line totals
  // (pricing.h, SumUp) and links to the menu where the channel has any; payments, discounts. Ids
  // of rows are given; what is not named here is left as it is made.
  Order order;
};

// Writes the order with all its rows, as one ORDER_CREATED. Where the channel's order is here
// already, nothing is written and the answer is the order as it is now. Stock falls as for a line
// that a till adds. Refusal where a cap, its record among them (size.h), or the bound of a sum
// would be passed.
Placed PlaceWhole(db::Tx& tx, const company::Company& company, WholeOrder whole,
                  const Placement& placement, const db::Stamp& stamp);
// The order of that channel with that id.
std::optional<Record> FindWhole(db::Session& session, db::CompanyId company,
                                std::string_view source, std::string_view external_id);

// Changing

// Which order, who asks, and what that caller has seen of it.
struct Target {
  db::CompanyId company = 0;
  std::string key;    // NormalisedKey
  std::string actor;  // for the status history: "key:<id>", "app:<provider>", "cloud", "local"
  RequestKey request_key = {};  // kept with the rows that the request makes
  std::function<void(int64_t version)> require_version = {};  // throws; empty: any version will do
};

Record EditFields(db::Tx& tx, const Target& target, const FieldsDraft& fields,
                  const db::Stamp& stamp);

// Combos, modifiers, payments and discounts bring their ids.
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

// To the same or an earlier status: unchanged. `status` is in the life.
Record Advance(db::Tx& tx, const Target& target, Status status, const db::Stamp& stamp);
Record Cancel(db::Tx& tx, const Target& target, std::string_view reason, const db::Stamp& stamp);

Record AssignRider(db::Tx& tx, const Target& target, const RiderDraft& draft,
                   const db::Stamp& stamp);
Record UnassignRider(db::Tx& tx, const Target& target, const db::Stamp& stamp);
Record ReportDelivery(db::Tx& tx, const Target& target, const DeliveryReport& report,
                      const db::Stamp& stamp);

// Stored records

// Whether that event holds the stored record of the order (record.h).
bool HoldsRecord(db::Session& session, db::CompanyId company, std::string_view id, int64_t seq);
// From now on the record is rendered when it is read, where the order was closed before that time;
// false where it was not.
bool ReleaseRecord(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs closed_before);

// Forgets every order of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::orders
