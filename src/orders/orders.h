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
};

// -- reading --------------------------------------------------------------------------------------

// "PE-7222853393" or a UUID, as it is stored; nothing where the text is neither.
std::optional<std::string> NormalisedKey(std::string_view text);

// The UUID for a UUID (not looked up) or the public id of an order of the company.
std::optional<std::string> FindUuid(db::Session& session, db::CompanyId company,
                                    std::string_view id_or_public_id);

// By UUID. A record of an older render version is rendered anew.
std::optional<Record> Find(db::Session& session, db::CompanyId company, std::string_view id,
                           Include include = {});

// The order that this Idempotency-Key made, however long ago, as it is now (contract section 5).
// Refusal idempotency_key_reused where the request was another one.
std::optional<Record> FindPlaced(db::Session& session, db::CompanyId company,
                                 std::string_view reference, std::string_view fingerprint);

// -- placing --------------------------------------------------------------------------------------

// What the caller brings to a new order beside the draft.
struct Placement {
  std::string id;
  // Candidates for the ten digits of the public id; the first that is free is taken.
  std::vector<std::string> public_numbers;
  std::string source = std::string(kApiSource);
  std::optional<std::string> reference, fingerprint;
  std::string actor;
};

struct Placed {
  Record record;
  bool replayed = false;  // it had been placed before, and nothing was written
};
Placed Place(db::Tx& tx, const company::Company& company, const OrderDraft& draft,
             const Placement& placement, const db::Stamp& stamp);

// -- changing -------------------------------------------------------------------------------------

// Which order, who asks, and what that caller has seen of it.
struct Target {
  db::CompanyId company = 0;
  std::string key;    // NormalisedKey
  std::string actor;  // for the status history: "key:<id>", "app:<provider>", "cloud", "local"
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

// Forgets every order of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::orders
