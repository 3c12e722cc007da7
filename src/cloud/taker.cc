#include "cloud/taker.h"

#include <algorithm>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/decimal.h"
#include "base/id.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/zone.h"
#include "cloud/adopt.h"
#include "cloud/authority.h"
#include "cloud/bodies.h"
#include "cloud/cloud_record.h"
#include "cloud/journal.h"
#include "cloud/link.h"
#include "cloud/journal_store.h"
#include "cloud/merge.h"
#include "cloud/order_plan.h"
#include "cloud/taken_store.h"
#include "company/companies.h"
#include "crypto/derived_id.h"
#include "menu/menu.h"
#include "net/reply.h"
#include "orders/cloud_order.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "orders/record.h"
#include "orders/size.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::DeliveryStatus;
using orders::Order;
using orders::Status;

constexpr std::string_view kActor = "cloud";
constexpr std::string_view kTotals = "totals";
constexpr std::string_view kStatus = "status";
constexpr std::string_view kCancelledThere = "cancelled in the cloud";
// The parts of a record that are added when it is stored: the company, the time.
constexpr size_t kAddedBytes = 512;
constexpr int64_t kAheadMsMax = 300'000;
constexpr std::string_view kPaidHere =
    R"({"title":"Cancelled But Paid","detail":"The cloud has cancelled this order, and it has )"
    R"(active payments here: cancel them, and the order becomes CANCELLED."})";

RecordContext ContextOf(db::Session& session, const company::Company& company,
                        std::string_view platform_there, std::string_view platform_here) {
  return {.company = company,
          .platform_there = platform_there,
          .platform_here = platform_here,
          .find_here = [&session, id = company.company_id](Kind kind, std::string_view cloud_id) {
            return aliases::FindBoxId(session, id, kind, cloud_id);
          }};
}

bool HasActivePayments(const Order& order) {
  return std::ranges::any_of(order.payments,
                             [](const orders::Payment& row) { return !row.canceled_at; });
}

bool IsOlder(const Order& shown, const Seen& seen) {
  const bool has_lower_version = shown.version != 0 && shown.version < seen.version;
  // A cloud that was restored from a backup counts its versions from there.
  return has_lower_version && shown.updated_at <= seen.updated_at;
}

std::string NameOf(std::optional<DeliveryStatus> status) {
  return status ? std::string(Name(*status)) : "";
}

// "total 12.5, paid 10", of those that the cloud shows.
std::string FiguresOf(const Order& order, const CloudRecord& shown) {
  std::string text;
  const auto add = [&](bool is_shown, std::string_view name, Minor amount) {
    if (!is_shown) return;
    text += Concat({text.empty() ? "" : ", ", name, " "});
    AppendScaled(text, amount, order.currency_decimals);
  };
  add(shown.has_total, "total", order.totals.total);
  add(shown.has_total_paid, "paid", order.totals.total_paid);
  return text;
}

// Drops what waits of an order that the cloud has cancelled, and would be refused there: all but a
// comment that comes alone. A difference names what was lost.
void DropSteps(db::Tx& tx, db::CompanyId company, const std::string& order_id, UtcMs now) {
  std::string lost;
  for (const Step& step : store::WaitingSteps(tx, company, order_id)) {
    if (step.kind == StepKind::kFields && HasCommentAlone(step.body)) continue;
    store::DeleteStep(tx, company, order_id, step.position);
    if (step.kind == StepKind::kCancel) continue;
    lost += Concat({lost.empty() ? "" : ", ", Name(step.kind)});
  }
  if (lost.empty()) return;
  store::PutDifference(tx, company,
                       {.order_id = order_id,
                        .kind = std::string(kStatus),
                        .box = lost,
                        .cloud = std::string(Name(Status::kCancelled)),
                        .detail = "not sent: the cloud has cancelled the order"},
                       now);
}

bool IsOfRider(StepKind kind) { return kind == StepKind::kRider || kind == StepKind::kNoRider; }

class Taker {
 public:
  Taker(db::Tx& tx, const TakeSettings& settings, CloudRecord record, const db::Stamp& stamp)
      : tx_(tx),
        settings_(settings),
        company_(settings.company.company_id),
        record_(std::move(record)),
        stamp_(stamp) {}

  Taken Take() && {
    FindOurs();
    const bool is_ours = before_ && before_->origin == orders::Origin::kBox;
    if (before_ && IsOlder(shown(), seen_)) {
      if (is_ours && row_) AdoptRepeated();
      return Taken::kUnchanged;
    }
    return is_ours && !IsLost() ? TakeOfBox() : TakeOfCloud();
  }

 private:
  const Order& shown() const { return record_.order; }
  bool MayCloudChange(Part part) const { return MayChange(Side::kCloud, before_->origin, part); }

  // Which order here it is

  void FindOurs() {
    const auto alias = aliases::FindBoxId(tx_, company_, Kind::kOrder, record_.cloud_id);
    if (alias) {
      order_id_ = *alias;
    } else if (const auto paired = FindByReference()) {
      order_id_ = *paired;
    } else {
      order_id_ = FreeId();
    }
    before_ = orders::Load(tx_, company_, order_id_);
    LeaveReferenceToItsOrder();
    row_ = store::FindOrder(tx_, company_, order_id_);
    seen_ = store::FindSeen(tx_, company_, order_id_);
  }

  // The order here that has the reference, unless it is another order of the cloud already. No
  // order changes its service type: one of another type was placed there by somebody else, before
  // this box's own creation came.
  std::optional<std::string> FindByReference() {
    if (!shown().reference) return std::nullopt;
    auto id = orders::FindByReference(tx_, company_, *shown().reference);
    if (!id || aliases::FindByBoxId(tx_, company_, Kind::kOrder, *id)) return std::nullopt;
    const auto order = orders::Load(tx_, company_, *id);
    if (!order || order->service_type != shown().service_type) return std::nullopt;
    return id;
  }

  // The id of the cloud, unless an order that was made here has it.
  std::string FreeId() {
    const auto same = orders::Load(tx_, company_, shown().id);
    if (!same || same->origin == orders::Origin::kCloud) return shown().id;
    return crypto::DerivedId(settings_.company.id, "cloud order " + record_.cloud_id);
  }

  // References are unique here.
  void LeaveReferenceToItsOrder() {
    if (!shown().reference) return;
    const auto holder = orders::FindByReference(tx_, company_, *shown().reference);
    if (holder && *holder != order_id_) record_.order.reference.reset();
  }

  void PutAlias() {
    const auto known = aliases::FindByBoxId(tx_, company_, Kind::kOrder, order_id_);
    std::optional<std::string> public_id = record_.cloud_public_id;
    if (const auto normalised = orders::NormalisedKey(public_id.value_or(""))) {
      public_id = normalised;
    }
    if (public_id) {
      const auto holder = aliases::FindByPublicId(tx_, company_, *public_id);
      if (holder && *holder != order_id_) public_id.reset();
    }
    if (!public_id && known) public_id = known->cloud_public_id;
    const bool is_known =
        known && known->cloud_id == record_.cloud_id && known->cloud_public_id == public_id;
    if (is_known) return;
    aliases::Put(tx_, company_,
                 {.kind = Kind::kOrder,
                  .cloud_id = record_.cloud_id,
                  .box_id = order_id_,
                  .cloud_public_id = public_id});
  }

  // An order of the cloud

  Taken TakeOfCloud() {
    Order draft = shown();
    draft.id = order_id_;
    FillIn(draft);
    if (before_) KeepSharedParts(draft);
    if (orders::Render(draft).size() + kAddedBytes > orders::kRecordBytesMax) {
      return Taken::kUnreadable;
    }
    const bool was_lost = IsLost();
    const orders::Record written = orders::TakeOver(tx_, settings_.company,
                                                    {.order = std::move(draft),
                                                     .public_numbers = settings_.public_numbers,
                                                     .was_made_here = was_lost},
                                                    stamp_);
    PutAlias();
    const Order after = *orders::Load(tx_, company_, order_id_);
    store::OrderRow row =
        row_.value_or(was_lost ? NewRow() : store::OrderRow{.order_id = order_id_});
    if (was_lost) AdoptRows(row.image, after, record_);
    row.image.is_placed = true;
    LearnState(row.image, shown().rider);
    Store(row, after);
    PlanOrder(tx_, company_, order_id_, {.rider_provider = settings_.rider_provider}, stamp_);
    if (after.status == Status::kCancelled) DropSteps(tx_, company_, order_id_, stamp_.now);
    return written.event_seq ? Taken::kWritten : Taken::kUnchanged;
  }

  // Whether the box made the order after the backup from which it was restored, and has changed
  // nothing of it since it came back (contract section 15.5).
  bool IsLost() {
    const bool is_of_api = shown().source == orders::kApiSource && shown().reference;
    if (before_) {
      const bool is_as_taken =
          row_ && row_->image.last_position == 0 && row_->planned_version == before_->version;
      return before_->origin == orders::Origin::kBox && is_as_taken &&
             IsLostTime(tx_, company_, before_->created_at);
    }
    return is_of_api && shown().created_at != 0 && IsLostTime(tx_, company_, shown().created_at);
  }

  // What the record does not show stays as it is here. Times that are not shown are those of the
  // first record.
  void FillIn(Order& draft) {
    if (draft.created_at == 0) draft.created_at = before_ ? before_->created_at : stamp_.now;
    if (before_) KeepWhatIsNotShown(draft);
    FillInRows(draft.combos, before_ ? &before_->combos : nullptr, draft.created_at);
    FillInRows(draft.payments, before_ ? &before_->payments : nullptr, draft.created_at);
    for (orders::Discount& row : draft.discounts) {
      if (row.created_at == 0) row.created_at = draft.created_at;
    }
    for (orders::StatusChange& change : draft.status_history) {
      if (change.at == 0) change.at = draft.created_at;
    }
    const auto fill = [&](std::optional<UtcMs>& at, const std::optional<UtcMs>& earlier) {
      if (at == 0) at = earlier.value_or(stamp_.now);
    };
    fill(draft.paid_at, before_ ? before_->paid_at : std::nullopt);
    fill(draft.closed_at, before_ ? before_->closed_at : std::nullopt);
    fill(draft.canceled_at, before_ ? before_->canceled_at : std::nullopt);
    if (draft.rider) DateRider(*draft.rider);
    for (orders::Combo& combo : draft.combos) Complete(combo);
    draft.delivery_status_by_rider = draft.delivery_status == DeliveryStatus::kRiderAssigned;
  }

  // What the cloud does not show of an item is that of the product here. The kitchen that cooks it
  // is one of this box. A row that is here already keeps both, whatever the menu says meanwhile.
  void Complete(orders::Combo& combo) {
    const auto known = before_ ? std::ranges::find(before_->combos, combo.id, &orders::Combo::id)
                               : std::vector<orders::Combo>::const_iterator();
    if (before_ && known != before_->combos.end()) {
      combo.kitchen_id = known->kitchen_id;
      CompleteNames(combo, known->product_name, known->product_category_name, known->variant_name);
      return;
    }
    const std::optional<menu::Item> item = FindItem(combo);
    if (!item) return;
    combo.kitchen_id = item->kitchen_id;
    CompleteNames(combo, item->product_name, item->category_name, item->variant_name);
  }

  std::optional<menu::Item> FindItem(const orders::Combo& combo) {
    std::optional<menu::Item> item;
    if (combo.variant_id) item = menu::FindVariant(tx_, company_, *combo.variant_id);
    if (!item && combo.product_id) item = menu::FindProduct(tx_, company_, *combo.product_id);
    if (!item && combo.sku) item = menu::FindSku(tx_, company_, *combo.sku);
    return item;
  }

  static void CompleteNames(orders::Combo& combo, const std::string& product,
                            const std::optional<std::string>& category,
                            const std::optional<std::string>& variant) {
    if (combo.product_name.empty()) combo.product_name = product;
    if (!combo.product_category_name) combo.product_category_name = category;
    if (!combo.variant_name) combo.variant_name = variant;
  }

  template <typename Rows>
  void FillInRows(Rows& rows, const Rows* earlier, UtcMs created_at) const {
    for (auto& row : rows) {
      if (row.created_at == 0) row.created_at = created_at;
      if (row.canceled_at != 0) continue;
      const auto found = earlier ? std::ranges::find(*earlier, row.id, &Rows::value_type::id)
                                 : typename Rows::const_iterator();
      const bool is_known = earlier && found != earlier->end();
      row.canceled_at = is_known ? found->canceled_at.value_or(stamp_.now) : stamp_.now;
    }
  }

  void KeepWhatIsNotShown(Order& draft) const {
    if (!record_.has_combos) draft.combos = before_->combos;
    if (!record_.has_payments) draft.payments = before_->payments;
    if (!record_.has_discounts) draft.discounts = before_->discounts;
    if (!record_.has_total) {
      draft.totals.subtotal = before_->totals.subtotal;
      draft.totals.total_discounts = before_->totals.total_discounts;
      draft.totals.total = before_->totals.total;
    }
    if (!record_.has_total_paid) {
      draft.totals.total_paid = before_->totals.total_paid;
      draft.totals.total_tips = before_->totals.total_tips;
      draft.totals.paid = before_->totals.paid;
      draft.paid_at = before_->paid_at;
    }
  }

  void DateRider(orders::Rider& rider) const {
    if (rider.assigned_at != 0) return;
    rider.assigned_at = stamp_.now;
    if (!before_ || !before_->rider) return;
    orders::Rider same = *before_->rider;
    same.assigned_at = rider.assigned_at;
    if (same == rider) rider.assigned_at = before_->rider->assigned_at;
  }

  // The rider and the delivery of an order of the cloud may have been changed here.
  void KeepSharedParts(Order& draft) {
    const bool same_rider = BodyOf(shown().rider) == BodyOf(before_->rider);
    const bool takes_rider = record_.has_rider && (same_rider || TakesTheRider());
    if (MayChange(Side::kBox, before_->origin, Part::kRider) && !takes_rider) {
      draft.rider = before_->rider;
    }
    if (!MayChange(Side::kBox, before_->origin, Part::kDelivery)) return;
    const DeliveryChoice choice = ChooseTheDelivery();
    if (choice == DeliveryChoice::kTake || choice == DeliveryChoice::kTakeVia) return;
    draft.delivery_status = before_->delivery_status;
    draft.delivery_status_reason = before_->delivery_status_reason;
    draft.delivery_status_by_rider = before_->delivery_status_by_rider;
    if (!shown().delivered_by) draft.delivered_by = before_->delivered_by;
  }

  // An order of this box

  Taken TakeOfBox() {
    const bool is_planned = row_ && row_->planned_version == before_->version;
    PutAlias();
    store::OrderRow row = row_ ? *row_ : NewRow();
    row.image.is_placed = true;
    if (settings_.answered) AdoptMade(row.image, *before_, record_, *settings_.answered);
    AdoptRows(row.image, *before_, record_, RowsThatWait());
    if (store::WhyParked(tx_, company_, order_id_) == kParkedGone) Unpark(tx_, company_, order_id_);
    const DeliveryChoice delivery = ChooseTheDelivery();
    if (MayCloudChange(Part::kStatus)) MoveTo(Status::kDelivered);
    if (MayCloudChange(Part::kRider) && record_.has_rider && TakesTheRider()) AssignRider();
    if (MayCloudChange(Part::kDelivery)) ReportDelivery(delivery);
    if (MayCloudChange(Part::kStatus)) MoveTo(Status::kFinalized);
    const bool is_paid = MayCloudChange(Part::kCancel) && !CancelOrSayPaid();
    const Order after = Now();
    LearnState(row.image, is_rider_taken_ ? after.rider : shown().rider);
    // A cloud that does not show it has set it with the rider, as this box has.
    if (is_rider_taken_ && !record_.has_delivery_status && after.delivery_status_by_rider) {
      row.image.delivery_status = after.delivery_status;
      row.image.delivery_status_by_rider = true;
    }
    Store(row, after);
    const bool is_cancelled = !is_paid && shown().status == Status::kCancelled;
    if (is_paid) Park(tx_, company_, order_id_, kCancelledButPaid, kPaidHere);
    if (is_cancelled || (is_planned && after.version != before_->version)) {
      PlanOrder(tx_, company_, order_id_, {.rider_provider = settings_.rider_provider}, stamp_);
    }
    if (is_cancelled) EndAsCancelled();
    CompareTotals(after);
    if (is_paid) return Taken::kParked;
    return after.version != before_->version ? Taken::kWritten : Taken::kUnchanged;
  }

  // A repeated step has the first answer again, which may be older than what the cloud has shown
  // since. It still names the rows that the step has made.
  void AdoptRepeated() {
    if (!settings_.answered) return;
    store::OrderRow row = *row_;
    AdoptMade(row.image, *before_, record_, *settings_.answered);
    if (row.image != row_->image) store::PutOrder(tx_, company_, row);
  }

  RowIds RowsThatWait() {
    RowIds ids;
    for (std::string& id : store::WaitingRows(tx_, company_, order_id_)) ids.insert(std::move(id));
    if (!settings_.looked_for) return ids;
    for (const std::string& id : settings_.looked_for->row_ids) ids.erase(id);
    return ids;
  }

  // Of an order that was paired before anything of it was planned: the cloud has its fields.
  store::OrderRow NewRow() const {
    store::OrderRow row{.order_id = order_id_};
    row.image.fields = {.comment = shown().comment,
                        .order_title = shown().order_title,
                        .delivery_comment = shown().delivery_comment,
                        .scheduled_delivery_date = shown().scheduled_delivery_date,
                        .delivery_price = shown().delivery_price,
                        .packaging_price = shown().packaging_price};
    return row;
  }

  Order Now() { return *orders::Load(tx_, company_, order_id_); }

  orders::Target At(std::optional<UtcMs> at) const {
    // A time that cannot be true is left to the stamp.
    const bool is_possible = at && *at >= before_->created_at && *at <= stamp_.now + kAheadMsMax;
    return {.company = company_,
            .key = order_id_,
            .actor = std::string(kActor),
            .occurred_at = is_possible ? at : std::nullopt};
  }

  // Only forward.
  void MoveTo(Status limit) {
    const Status target = std::min(shown().status, limit);
    if (shown().status == Status::kCancelled || before_->status == Status::kCancelled) return;
    orders::Advance(tx_, At(ReachedAt(shown(), target)), target, stamp_);
  }

  void AssignRider() {
    const Order now = Now();
    if (orders::IsClosed(now.status)) return;
    is_rider_taken_ = true;
    if (!shown().rider) {
      orders::UnassignRider(tx_, At(std::nullopt), stamp_);
      return;
    }
    const orders::Rider& rider = *shown().rider;
    const orders::Target target =
        At(rider.assigned_at == 0 ? std::nullopt : std::optional(rider.assigned_at));
    orders::RiderDraft draft{.kind = orders::RiderProvider::kApi, .rider = rider};
    if (rider.provider == settings_.platform_name) {
      draft.kind = orders::RiderProvider::kPlatform;
      draft.user_uuid = UserOf(rider);
    }
    try {
      orders::AssignRider(tx_, target, draft, stamp_);
    } catch (const Refusal&) {
      // Who is no rider of the company here is shown as an external one.
      draft.kind = orders::RiderProvider::kApi;
      draft.rider.provider = "api";
      orders::AssignRider(tx_, target, draft, stamp_);
    }
  }

  static std::optional<std::string> UserOf(const orders::Rider& rider) {
    const json::Document id = json::Document::ParseStored(rider.user_id.value_or("null"));
    return id.root().kind() == json::Kind::kText ? ParseId(id.root().text()) : std::nullopt;
  }

  void ReportDelivery(DeliveryChoice choice) {
    if (choice == DeliveryChoice::kConflict) NoteConflict();
    const bool takes = choice == DeliveryChoice::kTake || choice == DeliveryChoice::kTakeVia;
    const Order now = Now();
    // Null follows from the rider who was removed.
    const bool is_possible = shown().delivery_status && !orders::IsClosed(now.status) &&
                             now.service_type == orders::ServiceType::kDelivery;
    if (!takes || !is_possible) return;
    if (choice == DeliveryChoice::kTakeVia) {
      orders::ReportDelivery(tx_, At(std::nullopt), {.status = DeliveryStatus::kOnTheWay}, stamp_);
    }
    orders::DeliveryReport report{.status = *shown().delivery_status};
    const bool has_reason =
        shown().delivery_status == DeliveryStatus::kNotDelivered && shown().delivery_status_reason;
    if (has_reason) report.reason.emplace(shown().delivery_status_reason);
    orders::ReportDelivery(tx_, At(std::nullopt), report, stamp_);
  }

  void NoteConflict() {
    store::PutDifference(tx_, company_,
                         {.order_id = order_id_,
                          .kind = std::string(kStatus),
                          .box = NameOf(before_->delivery_status),
                          .cloud = NameOf(shown().delivery_status),
                          .detail = "delivery status"},
                         stamp_.now);
  }

  // False where active payments here keep the order from being cancelled as it is in the cloud.
  bool CancelOrSayPaid() {
    if (shown().status != Status::kCancelled) return true;
    const Order now = Now();
    if (now.status == Status::kCancelled) return true;
    if (HasActivePayments(now)) return false;
    orders::Cancel(tx_, At(shown().canceled_at), ReasonOf(shown().cancel_reason), stamp_);
    return true;
  }

  // All that waits was planned before, so that nothing of it is planned later.
  void EndAsCancelled() {
    DropSteps(tx_, company_, order_id_, stamp_.now);
    Unpark(tx_, company_, order_id_);
  }

  static std::string ReasonOf(const std::optional<std::string>& reason) {
    return reason.value_or(std::string(kCancelledThere));
  }

  // What both kinds have

  bool Waits(std::initializer_list<StepKind> kinds) {
    if (!waiting_) waiting_ = store::WaitingKinds(tx_, company_, order_id_);
    return std::ranges::any_of(*waiting_, [&](StepKind waiting) {
      return std::ranges::find(kinds, waiting) != kinds.end();
    });
  }
  bool RiderWaits() { return Waits({StepKind::kRider, StepKind::kNoRider}); }
  bool DeliveryWaits() {
    return Waits({StepKind::kRider, StepKind::kNoRider, StepKind::kDelivery});
  }

  // Nothing for a rider that the cloud cannot have.
  std::optional<std::string> BodyOf(const std::optional<orders::Rider>& rider) {
    if (!rider) return "";
    return RiderBody(*rider, settings_.rider_provider,
                     [&](std::string_view, Kind kind,
                         const std::optional<std::string>& box_id) -> std::optional<std::string> {
                       if (!box_id) return std::nullopt;
                       const auto alias = aliases::FindByBoxId(tx_, company_, kind, *box_id);
                       return alias ? std::optional(alias->cloud_id) : std::nullopt;
                     });
  }

  bool TakesTheRider() {
    const Order& here = *before_;
    const UtcMs shown_at = shown().updated_at == 0 ? stamp_.now : shown().updated_at;
    const bool is_dated = shown().rider && shown().rider->assigned_at != 0;
    return TakesRider({.here = BodyOf(here.rider),
                       .there = BodyOf(shown().rider).value_or(""),
                       .image = row_ ? row_->image.rider : "",
                       .seen = seen_.rider,
                       .is_own = IsOwnRider(),
                       .waits = RiderWaits(),
                       .here_at = here.rider ? here.rider->assigned_at : here.updated_at,
                       .there_at = is_dated ? shown().rider->assigned_at : shown_at});
  }

  // A step that waits may have been accepted, with its answer lost.
  bool IsOwnRider() {
    const std::string there = BodyOf(shown().rider).value_or("");
    const Step* answered = settings_.answered;
    if (answered && IsOfRider(answered->kind)) return true;
    const std::vector<std::string> waiting = store::WaitingRiders(tx_, company_, order_id_);
    return std::ranges::find(waiting, there) != waiting.end();
  }

  // Whether the delivery status that the record shows is that which the answered step has made.
  bool IsOwnDelivery() const {
    const Step* answered = settings_.answered;
    const std::optional<DeliveryStatus> there = shown().delivery_status;
    if (!answered) return false;
    if (IsOfRider(answered->kind)) return !there || there == DeliveryStatus::kRiderAssigned;
    if (answered->kind != StepKind::kDelivery) return false;
    const json::Document body = json::Document::ParseStored(answered->body);
    return net::TextAt(body.root(), "delivery_status") == NameOf(there);
  }

  DeliveryChoice ChooseTheDelivery() {
    if (!record_.has_delivery_status || IsOwnDelivery()) return DeliveryChoice::kKeep;
    return ChooseDelivery({.here = before_->delivery_status,
                           .there = shown().delivery_status,
                           .image = row_ ? row_->image.delivery_status : std::nullopt,
                           .reason_here = before_->delivery_status_reason,
                           .reason_there = shown().delivery_status_reason,
                           .seen = seen_.delivery_status,
                           .seen_reason = seen_.delivery_status_reason,
                           .here_by_rider = before_->delivery_status_by_rider,
                           .waits = DeliveryWaits()});
  }

  // The image learns the state that the cloud shows, unless steps that wait will change it.
  // `rider`: that of the cloud, in the form in which it is stored here.
  void LearnState(Image& image, const std::optional<orders::Rider>& rider) {
    const Status status = shown().status;
    image.status = std::max(image.status, status);
    if (record_.has_rider && !RiderWaits()) {
      image.rider = BodyOf(rider).value_or("");
    }
    if (record_.has_delivery_status && !DeliveryWaits()) {
      image.delivery_status = shown().delivery_status;
      image.delivery_status_reason = shown().delivery_status_reason;
      image.delivery_status_by_rider = shown().delivery_status == DeliveryStatus::kRiderAssigned;
    }
  }

  void Store(store::OrderRow& row, const Order& after) {
    const bool is_new = !row_;
    if (is_new) {
      row.is_open = !orders::IsClosed(after.status);
      row.touched_at = after.updated_at;
    }
    if (is_new || row.image != row_->image) store::PutOrder(tx_, company_, row);
    Seen seen = seen_;
    seen.version = shown().version;
    seen.updated_at = shown().updated_at;
    seen.status = shown().unknown_status.value_or(std::string(Name(shown().status)));
    if (record_.has_rider) seen.rider = BodyOf(shown().rider).value_or("");
    if (record_.has_delivery_status) {
      seen.delivery_status = NameOf(shown().delivery_status);
      seen.delivery_status_reason = shown().delivery_status_reason;
    }
    if (shown().cancel_reason) seen.cancel_reason = shown().cancel_reason;
    if (after.origin == orders::Origin::kBox) CompareDates(seen);
    if (is_new || seen != seen_) store::PutSeen(tx_, company_, order_id_, seen);
  }

  // Differences

  // Once the cloud has all that this box has.
  void CompareTotals(const Order& after) {
    const auto row = store::FindOrder(tx_, company_, order_id_);
    const bool is_sent = row && row->waiting == 0 && row->planned_version == after.version;
    const std::string there = FiguresOf(shown(), record_);
    if (!is_sent || there.empty()) return;
    const std::string here = FiguresOf(after, record_);
    if (here == there) {
      store::RemoveDifference(tx_, company_, order_id_, kTotals);
      return;
    }
    const Difference difference{.order_id = order_id_,
                                .kind = std::string(kTotals),
                                .box = here,
                                .cloud = there,
                                .detail = ""};
    if (!store::PutDifference(tx_, company_, difference, stamp_.now)) return;
    log::Warning("an order has other totals in the cloud",
                 {{"order", order_id_}, {"here", here}, {"cloud", there}});
  }

  // A cloud that dates orders by its own clock may count one to another business day.
  void CompareDates(Seen& seen) {
    if (seen.is_dated || shown().created_at == 0) return;
    seen.is_dated = true;
    const Days days = company::BusinessDays(settings_.company);
    const Day here = days.Of(before_->created_at);
    const Day there = days.Of(shown().created_at);
    if (here == there) return;
    store::CountDate(tx_, company_, FormatDay(here), FormatDay(there), stamp_.now);
  }

  db::Tx& tx_;
  const TakeSettings& settings_;
  const db::CompanyId company_;
  CloudRecord record_;
  const db::Stamp& stamp_;
  std::string order_id_;
  std::optional<Order> before_;
  std::optional<store::OrderRow> row_;
  Seen seen_;
  std::optional<std::vector<StepKind>> waiting_;  // before anything of this record was planned
  bool is_rider_taken_ = false;
};

}  // namespace

Taken TakeOrder(db::Tx& tx, const TakeSettings& settings, json::Value record,
                const db::Stamp& stamp) {
  try {
    CloudRecord shown = ReadCloudRecord(
        record, ContextOf(tx, settings.company, settings.rider_provider, settings.platform_name));
    return Taker(tx, settings, std::move(shown), stamp).Take();
  } catch (const UnreadableRecord&) {
    return Taken::kUnreadable;
  }
}

Taken TakeGone(db::Tx& tx, db::CompanyId company, std::string_view cloud_id,
               const db::Stamp& stamp) {
  const std::string key = ParseId(cloud_id).value_or(std::string(cloud_id));
  const auto order_id = aliases::FindBoxId(tx, company, Kind::kOrder, key);
  const auto order = order_id ? orders::Load(tx, company, *order_id) : std::nullopt;
  if (!order) return Taken::kUnchanged;
  if (order->origin == orders::Origin::kCloud) {
    const auto gone = orders::MarkGone(tx, company, *order_id, stamp);
    return gone && gone->event_seq ? Taken::kWritten : Taken::kUnchanged;
  }
  if (!store::FindOrder(tx, company, *order_id)) {
    store::PutOrder(tx, company,
                    {.order_id = *order_id,
                     .is_open = !orders::IsClosed(order->status),
                     .touched_at = order->updated_at});
  }
  if (store::WhyParked(tx, company, *order_id) == kParkedGone) return Taken::kUnchanged;
  Park(tx, company, *order_id, kParkedGone, "");
  return Taken::kParked;
}

bool FinishCancel(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                  const db::Stamp& stamp) {
  const std::string id(order_id);
  if (store::WhyParked(tx, company, id) != kCancelledButPaid) return false;
  const auto order = orders::Load(tx, company, id);
  if (!order || HasActivePayments(*order)) return false;
  const std::string reason = store::FindSeen(tx, company, id).cancel_reason.value_or("");
  orders::Cancel(tx, {.company = company, .key = id, .actor = std::string(kActor)},
                 reason.empty() ? kCancelledThere : reason, stamp);
  // Planned, so that nothing of it is planned later.
  PlanOrder(tx, company, id, {}, stamp);
  DropSteps(tx, company, id, stamp.now);
  Unpark(tx, company, id);
  return true;
}

bool MatchesWholly(db::Session& session, const company::Company& company,
                   const orders::Order& order, json::Value record) {
  try {
    const CloudRecord shown = ReadCloudRecord(record, ContextOf(session, company, "", ""));
    return shown.order.service_type == order.service_type && HasEachRow(order, shown);
  } catch (const UnreadableRecord&) {
    return false;
  }
}

}  // namespace comanda::cloud
