#include "orders/orders.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <tuple>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/decimal.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "events/log.h"
#include "orders/change.h"
#include "orders/external_order.h"
#include "orders/json.h"
#include "orders/lifecycle.h"
#include "orders/permission.h"
#include "orders/pricing.h"
#include "orders/record.h"
#include "orders/references.h"
#include "orders/size.h"
#include "orders/stock.h"
#include "orders/store.h"
#include "orders/stored_record.h"

namespace comanda::orders {
namespace {

using enum events::Change;

constexpr size_t kPublicDigits = 10;

events::Changes Changed(std::initializer_list<events::Change> list) {
  events::Changes changes;
  for (const events::Change change : list) changes.Add(change);
  return changes;
}

// Opening an order

Refusal NoSuchOrder(std::string_view key) {
  return Refusal(Problem::kNotFound, "there is no order " + std::string(key));
}

// A row was found by an index and then not found in its table, within one transaction.
Fault NotFoundAgain(std::string_view id) {
  return Fault(Fault::Kind::kDamaged,
               "order " + std::string(id) + " is damaged: an index and its table disagree");
}

// The UUID of the order to which the cloud has given that key.
std::optional<std::string> FindByCloudKey(db::Session& session, db::CompanyId company,
                                          const std::string& key) {
  if (!ParseId(key)) return aliases::FindByPublicId(session, company, key);
  return aliases::FindBoxId(session, company, aliases::Kind::kOrder, key);
}

// A key is looked for as the box's own first, which most are, then as the cloud's.
Order Load(db::Tx& tx, const Target& target) {
  const auto find = [&](std::string_view id) {
    return Select(tx, target.company, id, target.company_uuid);
  };
  if (ParseId(target.key)) {
    if (std::optional<Order> order = find(target.key)) return *std::move(order);
  } else if (const auto id = SelectIdByPublicId(tx, target.company, target.key)) {
    if (std::optional<Order> order = find(*id)) return *std::move(order);
    throw NotFoundAgain(*id);
  }
  if (const auto id = FindByCloudKey(tx, target.company, target.key)) {
    if (std::optional<Order> order = find(*id)) return *std::move(order);
  }
  throw NoSuchOrder(target.key);
}

// The time of the rows and statuses that the command adds or cancels.
UtcMs When(const Target& target, const db::Stamp& stamp) {
  return target.occurred_at.value_or(stamp.now);
}

void RequireVersion(const Target& target, const Order& order) {
  if (target.require_version) target.require_version(order.version);
}

// Loads the order and checks that it has the version that the caller expects.
Order Open(db::Tx& tx, const Target& target) {
  Order order = Load(tx, target);
  RequireVersion(target, order);
  return order;
}

// The row with that id. Refusal not_found if the order has none.
template <typename Row>
Row& RowNamed(std::vector<Row>& rows, std::string_view id, std::string_view noun) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  if (found != rows.end()) return *found;
  throw Refusal(Problem::kNotFound,
                "the order has no " + std::string(noun) + " " + std::string(id));
}

Record Unchanged(const Order& order) { return {order.id, order.version, Render(order)}; }

// Rules of state

Refusal NotEditable(const Order& order) {
  if (order.origin == Origin::kCloud) {
    return Refusal(
        Problem::kOrderNotEditable,
        "the order was made in the cloud: edit or cancel it there; its status, rider and "
        "delivery status can be changed here too");
  }
  return Refusal(Problem::kOrderNotEditable,
                 Concat({"the order came through ", order.source,
                         ": only orders created through the API can be edited or cancelled here"}));
}

void RequireEditor(const Target& target, const Order& order) {
  if (MayEdit(target.actor, order.source, order.origin)) return;
  throw NotEditable(order);
}

void RequireCanceller(const Target& target, const Order& order) {
  if (MayCancel(target.actor, order.source, order.origin)) return;
  throw NotEditable(order);
}

void RequireNotCancelled(const Order& order, std::string_view hint = "and stays as it is") {
  if (order.status != Status::kCancelled) return;
  throw Refusal(Problem::kOrderCancelled, "the order is CANCELLED " + std::string(hint));
}

void RequireNotFinalized(const Order& order, std::string_view hint) {
  if (order.status != Status::kFinalized) return;
  throw Refusal(Problem::kOrderClosed, "the order is FINALIZED " + std::string(hint));
}

void RequireOpen(const Order& order) {
  RequireNotCancelled(order);
  RequireNotFinalized(order, "and closed: this is possible up to DELIVERED");
}

// The one way to change an order

bool DiscountEffectMoved(const Order& before, const Order& after) {
  return !std::ranges::equal(before.discounts, after.discounts, {}, &Discount::amount,
                             &Discount::amount);
}

template <typename Row>
void SignRows(const std::vector<Row>& before, std::vector<Row>& after, const RequestKey& key) {
  if (!key || after.size() <= before.size()) return;
  for (Row& row : std::span(after).subspan(before.size())) row.request_key = key;
}

// Writes the request's Idempotency-Key to the rows that it has added. New rows are at the end of
// their list: no request adds one discount and removes another.
void SignNewRows(const Order& before, Order& after, const RequestKey& key) {
  SignRows(before.status_history, after.status_history, key);
  SignRows(before.combos, after.combos, key);
  SignRows(before.payments, after.payments, key);
  SignRows(before.discounts, after.discounts, key);
}

// What the Refusal names if the changed order is too large.
struct Blame {
  std::string_view sum = "body";  // the field that makes a sum too large
  Adds adds = Adds::kLittle;      // the change that makes the record too large
};

// The end of every command that changes an order: prices it, and writes the change.
Record SaveChange(db::Tx& tx, const Target& target, const Order& before, Order after,
                  events::Changes changes, const db::Stamp& stamp, const Blame& blame = {},
                  std::string_view note = {}) {
  SignNewRows(before, after, target.request_key);
  // The figures of the cloud's orders are the cloud's.
  if (after.origin == Origin::kBox) PriceOrRefuse(after, When(target, stamp), blame.sum);
  if (DiscountEffectMoved(before, after)) changes.Add(kDiscounts);
  if (before.totals.paid != after.totals.paid) changes.Add(kPaid);
  return WriteChange(
      tx, before, std::move(after),
      {.changes = changes,
       .note = note,
       .check = [&](const Order& changed,
                    std::string_view record) { RequireSize(before, changed, record, blame.adds); }},
      stamp);
}

// Fields

void RequireFitting(const FieldsDraft& fields, const Order& order) {
  const std::string message =
      "is for DELIVERY orders only: this order is " + std::string(Name(order.service_type));
  const bool is_delivery = order.service_type == ServiceType::kDelivery;
  json::Errors errors;
  if (!is_delivery && fields.delivery_comment && *fields.delivery_comment) {
    errors.Add("delivery_comment", FieldCode::kNotAllowed, message);
  }
  if (!is_delivery && fields.delivery_price) {
    errors.Add("delivery_price", FieldCode::kNotAllowed, message);
  }
  if (fields.past_date_judged_at &&
      *fields.scheduled_delivery_date != order.scheduled_delivery_date) {
    errors.Add("scheduled_delivery_date", FieldCode::kOutOfRange,
               PastDateMessage(*fields.past_date_judged_at));
  }
  errors.ThrowIfAny();
}

// A closed order accepts a comment and no other field.
void RequireEditable(const Target& target, const FieldsDraft& fields, const Order& order) {
  RequireEditor(target, order);
  FieldsDraft comment_alone;
  comment_alone.comment = fields.comment;
  if (!IsClosed(order.status) || (fields.comment && fields == comment_alone)) return;
  const bool cancelled = order.status == Status::kCancelled;
  throw Refusal(cancelled ? Problem::kOrderCancelled : Problem::kOrderClosed,
                "the order is " + std::string(Name(order.status)) +
                    ": all that can be changed is its comment, sent alone");
}

void AppendComment(const std::string& addition, Order& order) {
  std::string whole = order.comment ? *order.comment + "\n" + addition : addition;
  if (CharacterCount(whole) > kWholeCommentMax) {
    throw Invalid("comment", FieldCode::kTooLong,
                  "is appended to the comment that is there, and both together have more than " +
                      std::to_string(kWholeCommentMax) + " characters");
  }
  order.comment = std::move(whole);
}

void Apply(const FieldsDraft& fields, Order& order) {
  if (fields.comment) AppendComment(*fields.comment, order);
  if (fields.order_title) order.order_title = *fields.order_title;
  if (fields.delivery_comment) order.delivery_comment = *fields.delivery_comment;
  if (fields.scheduled_delivery_date) {
    order.scheduled_delivery_date = *fields.scheduled_delivery_date;
  }
  if (fields.delivery_price) order.delivery_price = *fields.delivery_price;
  if (fields.packaging_price) order.packaging_price = *fields.packaging_price;
}

auto FieldsOf(const Order& order) {
  return std::tie(order.comment, order.order_title, order.delivery_comment,
                  order.scheduled_delivery_date, order.delivery_price, order.packaging_price);
}

std::string_view BlamedField(const FieldsDraft& fields) {
  return fields.delivery_price ? "delivery_price" : "packaging_price";
}

// Placing

Order NewOrder(const company::Company& company, ServiceType service_type,
               const Placement& placement, const db::Stamp& stamp) {
  Order order = BlankOrder(company);
  order.id = placement.id;
  order.reference = placement.reference;
  order.fingerprint = placement.fingerprint;
  order.source = placement.source;
  order.service_type = service_type;
  order.created_at = placement.occurred_at.value_or(stamp.now);
  order.status_history.push_back({Status::kPending, order.created_at, placement.actor, false});
  return order;
}

std::string ActivePayments(const Order& order) {
  std::string list;
  for (const Payment& payment : order.payments) {
    if (payment.canceled_at) continue;
    if (!list.empty()) list += ", ";
    list += payment.id + " (" + payment.method.code + " ";
    AppendScaled(list, payment.amount, order.currency_decimals);
    list += ")";
  }
  return list;
}

// Deliveries

// The value of delivered_by (specification, Order): where the report came from.
std::string ReporterOf(const Target& target, const Order& order) {
  return target.actor.starts_with("app:") ? order.source : "API";
}

void RequireDeliveryOrder(const Order& order) {
  if (order.service_type == ServiceType::kDelivery) return;
  throw Invalid(
      "delivery_status", FieldCode::kNotAllowed,
      "is for DELIVERY orders only: this order is " + std::string(Name(order.service_type)));
}

[[noreturn]] void RefuseMove(const Order& order, DeliveryStatus target) {
  if (target == DeliveryStatus::kNotDelivered) {
    throw Invalid("delivery_status", FieldCode::kIllegalMove,
                  "can be NOT_DELIVERED only after DRIVER_ARRIVED_AT_STORE, "
                  "DRIVER_ON_THE_WAY_TO_DESTINATION or DRIVER_ARRIVED_AT_DESTINATION; it is " +
                      std::string(order.delivery_status ? Name(*order.delivery_status) : "null"));
  }
  throw Invalid("delivery_status", FieldCode::kIllegalMove,
                "can go from NOT_DELIVERED only back to DRIVER_ON_THE_WAY_TO_DESTINATION");
}

// Stored records

// The result of `work`, or `otherwise` if it throws Fault kDamaged.
template <typename Work>
bool UnlessDamaged(bool otherwise, Work&& work) {
  try {
    return work();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return otherwise;
  }
}

}  // namespace

// Reading

std::optional<std::string> NormalisedKey(std::string_view text) {
  if (auto id = ParseId(text)) return id;
  constexpr size_t kCountry = 2;
  if (text.size() != kCountry + 1 + kPublicDigits || text[kCountry] != '-') return std::nullopt;
  std::string key(text);
  for (size_t i = 0; i < kCountry; ++i) {
    if (key[i] >= 'a' && key[i] <= 'z') key[i] = static_cast<char>(key[i] - 'a' + 'A');
    if (key[i] < 'A' || key[i] > 'Z') return std::nullopt;
  }
  if (key.find_first_not_of("0123456789", kCountry + 1) != std::string::npos) return std::nullopt;
  return key;
}

std::optional<std::string> FindUuid(db::Session& session, db::CompanyId company,
                                    std::string_view id_or_public_id) {
  if (auto id = ParseId(id_or_public_id)) {
    // An id of the cloud hides no order that was made here (contract section 15.5).
    if (SelectRecordLocation(session, company, *id)) return id;
    auto known = aliases::FindBoxId(session, company, aliases::Kind::kOrder, *id);
    return known ? std::move(known) : std::move(id);
  }
  const std::optional<std::string> public_id = NormalisedKey(id_or_public_id);
  if (!public_id) return std::nullopt;
  const std::optional<std::string> id = SelectIdByPublicId(session, company, *public_id);
  if (!id) return aliases::FindByPublicId(session, company, *public_id);
  if (!SelectRecordLocation(session, company, *id)) {
    throw Fault(Fault::Kind::kDamaged, "the id of order " + *public_id + " is damaged");
  }
  return id;
}

std::optional<Record> FindByKey(db::Session& session, db::CompanyId company,
                                std::string_view id_or_public_id) {
  const std::optional<std::string> key = NormalisedKey(id_or_public_id);
  if (!key) return std::nullopt;
  if (ParseId(*key)) {
    if (auto record = Find(session, company, *key)) return record;
  } else if (const auto found = SelectRecordByPublicId(session, company, *key)) {
    return ReadRecord(session, company, found->id, found->location);
  }
  const std::optional<std::string> id = FindByCloudKey(session, company, *key);
  return id ? Find(session, company, *id) : std::nullopt;
}

std::optional<Record> Find(db::Session& session, db::CompanyId company, std::string_view id) {
  const std::optional<RecordLocation> location = SelectRecordLocation(session, company, id);
  if (!location) return std::nullopt;
  return ReadRecord(session, company, id, *location);
}

std::optional<Order> Load(db::Session& session, db::CompanyId company, std::string_view id) {
  return Select(session, company, id);
}

std::optional<int64_t> VersionOf(db::Session& session, db::CompanyId company, std::string_view id) {
  const auto location = SelectRecordLocation(session, company, id);
  return location ? std::optional(location->version) : std::nullopt;
}

std::optional<std::string> FindByReference(db::Session& session, db::CompanyId company,
                                           std::string_view reference) {
  std::optional<Made> made = SelectByReference(session, company, reference);
  if (!made) return std::nullopt;
  return std::move(made->id);
}

std::vector<std::string> FindIdsAfter(db::Session& session, db::CompanyId company,
                                      std::string_view id, int64_t limit) {
  return SelectIdsAfter(session, company, id, limit);
}

std::vector<std::string> FindIdsChangedSince(db::Session& session, db::CompanyId company,
                                             UtcMs since) {
  return SelectIdsChangedSince(session, company, since);
}

int64_t CountOfOtherChannels(db::Session& session, db::CompanyId company) {
  return CountOrders(session, company) - CountOrdersOf(session, company, kApiSource);
}

bool HasComeFromCloud(db::Session& session, db::CompanyId company, std::string_view source,
                      UtcMs since) {
  return HasOrderOf(session, company, source, Origin::kCloud, since);
}

std::optional<std::string> FirstRecord(db::Session& session, const Order& order) {
  if (order.created_seq < events::ExtentOf(session, order.company).oldest) return std::nullopt;
  const auto event = events::Find(session, order.company, order.created_seq);
  const bool is_its_own = event && !event->is_damaged && event->subject_id == order.id;
  if (!is_its_own || event->subject_version != 1) return std::nullopt;
  return event->body;
}

std::optional<std::string> EventBody(db::Session& session, db::CompanyId company, int64_t seq) {
  std::optional<events::StoredEvent> event = events::Find(session, company, seq);
  if (!event) return std::nullopt;
  if (!event->is_damaged) return std::move(event->body);
  const std::optional<Order> order = Select(session, company, event->subject_id);
  if (order && order->version == event->subject_version) {
    std::string record = Render(*order);
    // If the record equals the stored body, another value of the event is damaged.
    if (record == event->body || events::HadBody(company, *event, record)) return record;
  }
  return events::BodyOf(session, company, seq);  // throws
}

namespace {

// A damaged number of the event of the creation could name the event of another order. Fault
// kDamaged where it may be damaged.
void RequireCreation(db::Session& session, db::CompanyId company, const Made& made) {
  const std::optional<events::StoredEvent> event = events::Find(session, company, made.created_seq);
  const bool is_its_own =
      event && !event->is_damaged && event->subject_id == made.id && event->subject_version == 1;
  if (is_its_own) return;
  if (!Select(session, company, made.id)) throw NotFoundAgain(made.id);
}

}  // namespace

std::optional<Placed> FindPlaced(db::Session& session, db::CompanyId company,
                                 std::string_view reference, std::string_view fingerprint) {
  const std::optional<Made> made = SelectByReference(session, company, reference);
  if (!made) return std::nullopt;
  if (made->fingerprint != fingerprint) {
    // Select() throws kDamaged if the fingerprint differs because it is damaged.
    if (!Select(session, company, made->id)) throw NotFoundAgain(made->id);
    throw Refusal(Problem::kIdempotencyKeyReused,
                  "this Idempotency-Key made order " + made->id + " (" + made->public_id +
                      ") from another request: send a new key with a new order");
  }
  RequireCreation(session, company, *made);
  if (made->created_seq >= events::ExtentOf(session, company).oldest) {
    constexpr int64_t kFirstVersion = 1;
    if (auto first = EventBody(session, company, made->created_seq)) {
      return Placed{{made->id, kFirstVersion, *std::move(first)}, Placed::Answer::kFirstAgain};
    }
  }
  std::optional<Record> now = Find(session, company, made->id);
  if (!now) throw NotFoundAgain(made->id);
  return Placed{*std::move(now), Placed::Answer::kAsItIsNow};
}

// Placing

// Numbers of ten digits that do not begin with 0.
std::vector<std::string> PublicNumbers() {
  constexpr size_t kCandidates = 4;
  constexpr uint64_t kLeast = 1'000'000'000;
  std::array<uint64_t, kCandidates> draws;
  FillRandom({reinterpret_cast<uint8_t*>(draws.data()), sizeof draws});
  std::vector<std::string> numbers;
  // The bias of the remainder of 64 bits is below one in a billion.
  for (const uint64_t draw : draws) numbers.push_back(std::to_string(kLeast + draw % (9 * kLeast)));
  return numbers;
}

Placed Place(db::Tx& tx, const company::Company& company, const OrderDraft& draft,
             const Placement& placement, const db::Stamp& stamp) {
  if (placement.reference) {
    auto earlier = FindPlaced(tx, company.company_id, *placement.reference,
                              placement.fingerprint.value_or(""));
    if (earlier) return *std::move(earlier);
  }
  Order order = NewOrder(company, draft.service_type, placement, stamp);
  ResolveClientAndTable(tx, draft, order);
  Apply(draft.fields, order);
  PriceOrRefuse(order, order.created_at, BlamedField(draft.fields));
  if (order.client_id) {
    clients::NoteOrder(tx, order.company, *order.client_id, order.created_at, stamp);
  }
  return {
      WriteNew(tx, company, std::move(order), {.public_numbers = placement.public_numbers}, stamp)};
}

// Fields

Record EditFields(db::Tx& tx, const Target& target, const FieldsDraft& fields,
                  const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  RequireFitting(fields, before);
  RequireEditable(target, fields, before);
  Order order = before;
  Apply(fields, order);
  if (FieldsOf(order) == FieldsOf(before)) return Unchanged(before);
  return SaveChange(tx, target, before, std::move(order), Changed({kFields}), stamp,
                    {BlamedField(fields), Adds::kTexts});
}

// Combos

Record AddCombos(db::Tx& tx, const Target& target, std::vector<Combo> combos,
                 const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  const std::vector<Combo*> counted = LinkToMenu(tx, before.company, combos);
  RequireEditor(target, before);
  RequireOpen(before);
  RequireCap(before.combos.size() + combos.size(), kCombosMax, "combos");
  const std::string note = DeductStock(tx, before.company, counted, stamp);
  Order order = before;
  for (Combo& combo : combos) {
    combo.created_at = When(target, stamp);
    order.combos.push_back(std::move(combo));
  }
  return SaveChange(tx, target, before, std::move(order), Changed({kCombos}), stamp,
                    {"combos", Adds::kCombos}, note);
}

Record CancelCombo(db::Tx& tx, const Target& target, std::string_view combo_id,
                   const db::Stamp& stamp) {
  const Order before = Load(tx, target);
  Order order = before;
  Combo& combo = RowNamed(order.combos, combo_id, "combo");
  RequireVersion(target, before);
  if (combo.canceled_at) return Unchanged(before);
  RequireEditor(target, before);
  RequireOpen(before);
  combo.canceled_at = When(target, stamp);
  GiveStockBack(tx, order.company, {&combo, 1}, stamp);
  return SaveChange(tx, target, before, std::move(order), Changed({kCombos}), stamp);
}

// Payments

Record Pay(db::Tx& tx, const Target& target, const PaymentDraft& draft, const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  Payment payment = draft.payment;
  payment.method = FindMethod(tx, before.company, draft, before.service_type);
  RequireEditor(target, before);
  RequireNotCancelled(before);
  RequireCap(before.payments.size() + 1, kPaymentsMax, "payments");
  payment.created_at = When(target, stamp);
  Order order = before;
  order.payments.push_back(std::move(payment));
  return SaveChange(tx, target, before, std::move(order), Changed({kPayments}), stamp,
                    {draft.amount_field, Adds::kPayment});
}

Record CancelPayment(db::Tx& tx, const Target& target, std::string_view payment_id,
                     const db::Stamp& stamp) {
  const Order before = Load(tx, target);
  Order order = before;
  Payment& payment = RowNamed(order.payments, payment_id, "payment");
  RequireVersion(target, before);
  if (payment.canceled_at) return Unchanged(before);
  RequireEditor(target, before);
  RequireNotCancelled(before);
  payment.canceled_at = When(target, stamp);
  return SaveChange(tx, target, before, std::move(order), Changed({kPayments}), stamp);
}

// Discounts

Record AddDiscount(db::Tx& tx, const Target& target, Discount discount, const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  RequireEditor(target, before);
  RequireOpen(before);
  RequireCap(before.discounts.size() + 1, kDiscountsMax, "discounts");
  Order order = before;
  discount.position = order.discounts.empty() ? 0 : order.discounts.back().position + 1;
  discount.created_at = When(target, stamp);
  order.discounts.push_back(std::move(discount));
  return SaveChange(tx, target, before, std::move(order), Changed({kDiscounts}), stamp,
                    {"value", Adds::kDiscount});
}

Record RemoveDiscount(db::Tx& tx, const Target& target, std::string_view discount_id,
                      const db::Stamp& stamp) {
  const Order before = Load(tx, target);
  Order order = before;
  const Discount& discount = RowNamed(order.discounts, discount_id, "discount");
  RequireVersion(target, before);
  RequireEditor(target, before);
  RequireOpen(before);
  order.discounts.erase(order.discounts.begin() + (&discount - order.discounts.data()));
  return SaveChange(tx, target, before, std::move(order), Changed({kDiscounts}), stamp);
}

// Status

Record Advance(db::Tx& tx, const Target& target, Status status, const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  RequireNotCancelled(before);
  Order order = before;
  if (!MoveTo(order, status, When(target, stamp), target.actor)) return Unchanged(before);
  return SaveChange(tx, target, before, std::move(order), Changed({kStatus}), stamp);
}

Record Cancel(db::Tx& tx, const Target& target, std::string_view reason, const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  RequireCanceller(target, before);
  if (before.status == Status::kCancelled) return Unchanged(before);
  const std::string payments = ActivePayments(before);
  if (!payments.empty()) {
    throw Refusal(Problem::kOrderHasActivePayments,
                  "cancel these payments first, each with DELETE "
                  "/v1/orders/{id}/payments/{paymentId}: " +
                      payments);
  }
  Order order = before;
  MarkCancelled(order, reason, When(target, stamp), target.actor);
  GiveStockBack(tx, order.company, order.combos, stamp);
  return SaveChange(tx, target, before, std::move(order), Changed({kStatus, kCancelled}), stamp);
}

// Logistics

Record AssignRider(db::Tx& tx, const Target& target, const RiderDraft& draft,
                   const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  Rider rider = FindRider(tx, draft, before);
  RequireOpen(before);
  rider.assigned_at = before.rider ? before.rider->assigned_at : When(target, stamp);
  if (before.rider == rider) return Unchanged(before);
  rider.assigned_at = When(target, stamp);
  events::Changes changes = Changed({kRider});
  Order order = before;
  order.rider = std::move(rider);
  if (order.service_type == ServiceType::kDelivery && !order.delivery_status) {
    order.delivery_status = DeliveryStatus::kRiderAssigned;
    order.delivery_status_by_rider = true;
    changes.Add(kDeliveryStatus);
  }
  return SaveChange(tx, target, before, std::move(order), changes, stamp);
}

Record UnassignRider(db::Tx& tx, const Target& target, const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  RequireOpen(before);
  if (!before.rider) return Unchanged(before);
  events::Changes changes = Changed({kRider});
  Order order = before;
  order.rider = std::nullopt;
  if (order.delivery_status_by_rider) {
    order.delivery_status = std::nullopt;
    order.delivery_status_by_rider = false;
    changes.Add(kDeliveryStatus);
  }
  return SaveChange(tx, target, before, std::move(order), changes, stamp);
}

Record ReportDelivery(db::Tx& tx, const Target& target, const DeliveryReport& report,
                      const db::Stamp& stamp) {
  const Order before = Open(tx, target);
  RequireDeliveryOrder(before);
  RequireOpen(before);
  const DeliveryMove move = FindMove(before.delivery_status, report.status);
  if (move == DeliveryMove::kUnchanged) {
    const bool gives_reason = before.delivery_status == report.status && report.reason &&
                              *report.reason != before.delivery_status_reason;
    if (!gives_reason) return Unchanged(before);
    Order order = before;
    order.delivery_status_reason = *report.reason;
    order.delivered_by = ReporterOf(target, order);
    return SaveChange(tx, target, before, std::move(order), Changed({kDeliveryStatus}), stamp);
  }
  if (move == DeliveryMove::kIllegal) RefuseMove(before, report.status);
  events::Changes changes = Changed({kDeliveryStatus});
  Order order = before;
  order.delivery_status = report.status;
  order.delivery_status_reason = report.reason.value_or(std::nullopt);
  order.delivery_status_by_rider = false;
  order.delivered_by = ReporterOf(target, order);
  const std::optional<Lift> lift = LiftOf(report.status);
  if (lift && MoveTo(order, lift->status, When(target, stamp), target.actor, lift->last_step)) {
    changes.Add(kStatus);
  }
  return SaveChange(tx, target, before, std::move(order), changes, stamp);
}

// Stored records

bool HoldsRecord(db::Session& session, db::CompanyId company, std::string_view id, int64_t seq) {
  return UnlessDamaged(true, [&] {
    const std::optional<RecordLocation> location = SelectRecordLocation(session, company, id);
    return location && location->seq == seq;
  });
}

bool ReleaseRecord(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs closed_before) {
  // Kept if the order's rows are damaged: the stored record is then the only copy.
  return UnlessDamaged(false, [&] {
    const std::optional<RecordLocation> location = SelectRecordLocation(tx, company, id);
    if (!location || !location->closed_at || *location->closed_at >= closed_before) return false;
    std::optional<Order> order = Select(tx, company, id);
    if (!order) return false;
    ForgetRecord(tx, *order);
    return true;
  });
}

void EraseAll(db::Tx& tx, db::CompanyId company) { DeleteAll(tx, company); }

}  // namespace comanda::orders
