#include "cloud/taker.h"

#include <algorithm>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/id.h"
#include "base/problem.h"
#include "cloud/adopt.h"
#include "cloud/authority.h"
#include "cloud/bodies.h"
#include "cloud/bring_back.h"
#include "cloud/cloud_record.h"
#include "cloud/journal_store.h"
#include "cloud/link.h"
#include "cloud/merge.h"
#include "cloud/sides.h"
#include "crypto/derived_id.h"
#include "events/log.h"
#include "net/reply.h"
#include "orders/external_order.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "orders/pricing.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::DeliveryStatus;
using orders::Order;
using orders::Status;

constexpr std::string_view kActor = "cloud";
constexpr std::string_view kCancelledThere = "cancelled in the cloud";
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

bool IsOlder(const Order& there, const LastShown& shown) {
  const bool has_lower_version = there.version != 0 && there.version < shown.version;
  // A cloud that was restored from a backup counts its versions from there.
  return has_lower_version && there.updated_at <= shown.updated_at;
}

// Whether the cloud may have changed the order since it showed it last.
bool IsChangedSince(const Order& there, const LastShown& shown) {
  if (there.version != 0) {
    return there.version > shown.version || there.updated_at > shown.updated_at;
  }
  return there.updated_at == 0 || there.updated_at >= shown.updated_at;
}

std::string NameOf(std::optional<DeliveryStatus> status) {
  return status ? std::string(Name(*status)) : "";
}

// What is lost of these requests where the cloud has cancelled the order, which would refuse them:
// all but a comment that comes alone, and the cancel.
bool IsLostByACancel(const Step& step) {
  if (step.kind == StepKind::kCancel) return false;
  return step.kind != StepKind::kFields || !HasCommentAlone(step.body);
}

// Nothing of `steps` is sent, because the cloud has cancelled the order: a difference names what is
// lost.
void DropSteps(db::Tx& tx, db::CompanyId company, const std::string& order_id,
               const std::vector<Step>& steps, UtcMs now) {
  std::string lost;
  for (const Step& step : steps) {
    if (IsLostByACancel(step)) lost += Concat({lost.empty() ? "" : ", ", Name(step.kind)});
  }
  const auto waiting = store::FirstStep(tx, company, order_id);
  if (waiting && (IsLostByACancel(waiting->step) || waiting->step.kind == StepKind::kCancel)) {
    store::DeleteSteps(tx, company, order_id);
  }
  if (lost.empty()) return;
  store::PutDifference(tx, company,
                       {.order_id = order_id,
                        .kind = "status",
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
    if (before_ && row_ && IsOlder(shown(), row_->mirror.shown)) {
      if (is_ours) AcceptRepeated();
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
    under_way_ = store::FirstStep(tx_, company_, order_id_);
    const Mirror mirror = row_ ? row_->mirror : Mirror();
    is_behind_ = before_ && !IsPlannedAhead() && IsBehind(tx_, *before_, mirror, settings_.rules);
    comes_back_ = is_behind_ && IsOfNow();
  }

  // Whether the record shows the order as it is now: the answer to a repeated request may be as old
  // as the first.
  bool IsOfNow() const {
    return !settings_.answered && (record_.shows.combos || settings_.looked_for);
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
    const bool was_lost = IsLost();
    store::OrderRow row = row_.value_or(store::OrderRow{.order_id = order_id_});
    Request(row.mirror);
    Order draft = shown();
    draft.id = order_id_;
    draft.origin = was_lost ? orders::Origin::kBox : orders::Origin::kCloud;
    if (before_) KeepSharedParts(draft);
    const std::optional<orders::Record> written = Ingest(std::move(draft), record_.shows);
    if (!written) return Taken::kUnreadable;
    PutAlias();
    const Order after = *orders::Load(tx_, company_, order_id_);
    if (settings_.answered) Accept(row.mirror, *settings_.answered, after);
    if (was_lost) AdoptRows(row.mirror, after, record_);
    if (!row.mirror.is_placed) LearnPlaced(row, row.mirror);
    const bool is_cancelled = after.status == Status::kCancelled;
    const auto lost =
        is_cancelled ? RemainingSteps(tx_, row, after, settings_.rules) : std::vector<Step>();
    LearnState(row.mirror, shown().rider);
    if (is_cancelled) DropSteps(tx_, company_, order_id_, lost, stamp_.now);
    Store(std::move(row), after);
    return written->event_seq ? Taken::kWritten : Taken::kUnchanged;
  }

  // Nothing, and nothing written, where its record is too large.
  std::optional<orders::Record> Ingest(Order order, const orders::Shown& shows) {
    try {
      return orders::Ingest(tx_, settings_.company,
                            {.order = std::move(order),
                             .shows = shows,
                             .figures = orders::Figures::kTheirs,
                             .actor = std::string(kActor),
                             .public_numbers = settings_.public_numbers},
                            stamp_);
    } catch (const Refusal&) {
      return std::nullopt;
    }
  }

  // Whether the box made the order after the backup from which it was restored, and has changed
  // nothing of it since it came back (contract section 15.5).
  bool IsLost() {
    const Makers* const makers = settings_.rules.makers;
    const bool is_of_another =
        !record_.maker.empty() && makers && !makers->empty() && !makers->contains(record_.maker);
    const bool is_of_api =
        shown().source == orders::kApiSource && shown().reference && !is_of_another;
    if (before_) {
      const bool is_as_taken =
          row_ && row_->mirror.last_position == 0 && row_->planned_version == before_->version;
      return before_->origin == orders::Origin::kBox && is_as_taken &&
             IsLostTime(tx_, company_, before_->created_at);
    }
    return is_of_api && shown().created_at != 0 && IsLostTime(tx_, company_, shown().created_at);
  }

  // The rider and the delivery of an order of the cloud may have been changed here.
  void KeepSharedParts(Order& draft) {
    const bool same_rider = BodyOf(shown().rider) == BodyOf(before_->rider);
    const bool takes_rider = record_.shows.rider && (same_rider || TakesTheRider());
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
    PutAlias();
    store::OrderRow row = row_.value_or(store::OrderRow{.order_id = order_id_});
    if (comes_back_) DropUnderWay();
    Request(row.mirror);
    Mirror& mirror = row.mirror;
    const int64_t version = before_->version;
    if (settings_.answered) {
      Accept(mirror, *settings_.answered, *before_);
      AdoptMade(mirror, *before_, record_, *settings_.answered);
    }
    if (!mirror.is_placed) LearnPlaced(row, mirror);
    AdoptRows(mirror, *before_, record_, RowsThatWait());
    if (comes_back_) BringBackLost(mirror);
    if (store::WhyParked(tx_, company_, order_id_) == kParkedGone) {
      store::Unpark(tx_, company_, order_id_);
    }
    const DeliveryChoice delivery = ChooseTheDelivery();
    if (MayCloudChange(Part::kStatus)) MoveTo(Status::kDelivered);
    if (MayCloudChange(Part::kRider) && record_.shows.rider && TakesTheRider()) AssignRider();
    if (MayCloudChange(Part::kDelivery)) ReportDelivery(delivery);
    if (MayCloudChange(Part::kStatus)) MoveTo(Status::kFinalized);
    const auto remaining = shown().status == Status::kCancelled
                               ? RemainingSteps(tx_, row, Now(), settings_.rules)
                               : std::vector<Step>();
    const bool is_paid = MayCloudChange(Part::kCancel) && !CancelOrSayPaid();
    const bool is_cancelled = !is_paid && shown().status == Status::kCancelled;
    const Order after = Now();
    // An order that is paid here is CANCELLED for nobody until its payments are cancelled.
    const Status status = mirror.status;
    LearnState(mirror, is_rider_taken_ ? after.rider : shown().rider);
    if (is_paid) mirror.status = status;
    // A cloud that does not show it has set it with the rider, as this box has.
    if (is_rider_taken_ && !record_.shows.delivery_status && after.delivery_status_by_rider) {
      mirror.delivery_status = after.delivery_status;
      mirror.delivery_status_by_rider = true;
    }
    if (is_cancelled) DropSteps(tx_, company_, order_id_, remaining, stamp_.now);
    CompareDates(mirror.shown);
    Store(std::move(row), after);
    if (is_paid) store::Park(tx_, company_, order_id_, kCancelledButPaid, kPaidHere);
    if (is_cancelled) store::Unpark(tx_, company_, order_id_);
    if (is_paid) return Taken::kParked;
    return after.version != version ? Taken::kWritten : Taken::kUnchanged;
  }

  // The cloud has the order before its creation was answered.
  void LearnPlaced(const store::OrderRow& row, Mirror& mirror) {
    if (before_) {
      const auto steps = RemainingSteps(tx_, row, *before_, settings_.rules);
      const bool has_place = !steps.empty() && steps.front().kind == StepKind::kPlace;
      if (has_place) Accept(mirror, steps.front(), *before_);
    }
    mirror.is_placed = true;
    if (comes_back_) return;  // what the cloud has otherwise was changed
    LearnFields(mirror.fields, record_);
  }

  // The request that was under way when the backup was made was answered since, and is not sent
  // again: what still differs becomes a new request. A creation stays in the journal: the cloud
  // makes one order for its key, however often it comes.
  void DropUnderWay() {
    if (!under_way_ || under_way_->step.kind == StepKind::kPlace) return;
    store::DeleteSteps(tx_, company_, order_id_);
    under_way_.reset();
  }

  void BringBackLost(Mirror& mirror) {
    if (!IsChangedSince(shown(), mirror.shown)) return;
    Order here = *before_;
    Mirror learnt = mirror;
    const bool is_as_restored = here.updated_at < *settings_.rules.restored_at;
    const bool has_changed = BringBack(here, learnt, record_, is_as_restored);
    const bool is_possible =
        !has_changed || (orders::Price(here, stamp_.now) && Ingest(std::move(here), {}));
    if (!is_possible) return;  // the differences tell
    mirror = std::move(learnt);
    if (has_changed) before_ = Now();
  }

  // A repeated request has the first answer again, which may be older than what the cloud has shown
  // since. It still names the rows that the request has made.
  void AcceptRepeated() {
    if (!settings_.answered) return;
    store::OrderRow row = *row_;
    Mirror& mirror = row.mirror;
    Accept(mirror, *settings_.answered, *before_);
    mirror.rider = row_->mirror.rider;
    mirror.delivery_status = row_->mirror.delivery_status;
    mirror.delivery_status_reason = row_->mirror.delivery_status_reason;
    mirror.delivery_status_by_rider = row_->mirror.delivery_status_by_rider;
    AdoptMade(mirror, *before_, record_, *settings_.answered);
    CompareAgain(tx_, *before_, std::move(row), settings_.rules, Makes::kNext, stamp_);
  }

  // Rows that the cloud does not have yet, as far as is known: the answer to their request names
  // them. What a record shows meanwhile may be an equal row of the request under way.
  RowIds RowsThatWait() const {
    RowIds ids;
    if (comes_back_) return ids;  // the lost box may have sent them
    if (row_ && row_->mirror.is_placed) {
      AddUnknown(ids, before_->combos, row_->mirror.combos);
      AddUnknown(ids, before_->payments, row_->mirror.payments);
      AddUnknown(ids, before_->discounts, row_->mirror.discounts);
    }
    if (!under_way_ || !AddsRows(under_way_->step.kind)) return ids;
    for (const std::string& id : under_way_->step.row_ids) {
      if (settings_.looked_for) {
        ids.erase(id);
      } else {
        ids.insert(id);
      }
    }
    return ids;
  }
  template <typename Kind>
  static void AddUnknown(RowIds& ids, const std::vector<Kind>& rows, const Rows& there) {
    for (const Kind& row : rows) {
      if (!there.contains(row.id)) ids.insert(row.id);
    }
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
    const Order now = Now();
    // Without its rider the order has lost what somebody in the cloud has reported.
    const bool was_lost = is_rider_taken_ && !now.delivery_status && before_->delivery_status;
    const bool takes =
        was_lost || choice == DeliveryChoice::kTake || choice == DeliveryChoice::kTakeVia;
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
                          .kind = "status",
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

  static std::string ReasonOf(const std::optional<std::string>& reason) {
    return reason.value_or(std::string(kCancelledThere));
  }

  // What both kinds have

  // Of the mirror as it was: what the cloud has once the request that is answered, or under way, is
  // accepted.
  void Request(const Mirror& mirror) {
    mirror_ = requested_ = mirror;
    const Order& order = before_ ? *before_ : shown();
    if (settings_.answered) Accept(requested_, *settings_.answered, order);
    if (under_way_) Accept(requested_, under_way_->step, order);
  }

  // Nothing for a rider that the cloud cannot have.
  std::optional<std::string> BodyOf(const std::optional<orders::Rider>& rider) {
    if (!rider) return "";
    return RiderBody(*rider, settings_.rules.rider_provider,
                     [&](std::string_view, Kind kind,
                         const std::optional<std::string>& box_id) -> std::optional<std::string> {
                       if (!box_id) return std::nullopt;
                       const auto alias = aliases::FindByBoxId(tx_, company_, kind, *box_id);
                       return alias ? std::optional(alias->cloud_id) : std::nullopt;
                     });
  }

  RiderSides SidesOfRider() {
    const Order& here = *before_;
    const UtcMs shown_at = shown().updated_at == 0 ? stamp_.now : shown().updated_at;
    const bool is_dated = shown().rider && shown().rider->assigned_at != 0;
    return {.here = BodyOf(here.rider),
            .there = BodyOf(shown().rider).value_or(""),
            .before = mirror_,
            .requested = requested_,
            .here_at = here.rider ? here.rider->assigned_at : here.updated_at,
            .there_at = is_dated ? shown().rider->assigned_at : shown_at};
  }
  bool AnswersRider() const { return settings_.answered && IsOfRider(settings_.answered->kind); }
  // The cloud may show the rider of the request that it answers in other words; another name is
  // another rider.
  bool ShowsRequestedRider() const {
    if (!AnswersRider()) return false;
    if (!shown().rider || requested_.rider.empty()) {
      return !shown().rider && requested_.rider.empty();
    }
    const json::Document body = json::Document::ParseStored(requested_.rider);
    const std::string name = net::TextAt(body.root(), "name");
    return name.empty() || shown().rider->name.value_or(name) == name;
  }
  // The mirror has already what the requests that wait will do: the record cannot be compared.
  bool IsPlannedAhead() const { return under_way_ && under_way_->step.is_in_mirror; }
  bool TakesTheRider() {
    return !IsPlannedAhead() && !ShowsRequestedRider() && TakesRider(SidesOfRider());
  }

  DeliverySides SidesOfDelivery() {
    const std::optional<std::string> rider = BodyOf(before_->rider);
    return {.here = before_->delivery_status,
            .there = shown().delivery_status,
            .reason_here = before_->delivery_status_reason,
            .reason_there = shown().delivery_status_reason,
            .before = mirror_,
            .requested = requested_,
            .here_by_rider = before_->delivery_status_by_rider,
            .has_changed_rider = rider != mirror_.rider,
            .is_without_rider = settings_.answered &&
                                settings_.answered->kind == StepKind::kNoRider && !shown().rider};
  }
  DeliveryChoice ChooseTheDelivery() {
    const bool is_comparable = record_.shows.delivery_status && !IsPlannedAhead();
    return is_comparable ? ChooseDelivery(SidesOfDelivery()) : DeliveryChoice::kKeep;
  }

  // The mirror learns what the cloud has changed, and what of the request under way it has.
  // `rider`: that of the cloud, in the form in which it is stored here.
  void LearnState(Mirror& mirror, const std::optional<orders::Rider>& rider) {
    mirror.status = std::max(mirror.status, shown().status);
    LastShown& last = mirror.shown;
    if (record_.shows.rider && !IsPlannedAhead()) {
      const std::string there = BodyOf(shown().rider).value_or("");
      if (AnswersRider() && !ShowsRequestedRider()) {
        // Somebody has changed him since; or the cloud takes no riders, which is asked once more.
        const bool is_first = SetAside(mirror, requested_.rider);
        if (is_first || HasChangedRider(SidesOfRider())) mirror.rider = BodyOf(rider).value_or("");
      } else if (!before_ || there == requested_.rider ||
                 (!AnswersRider() && HasChangedRider(SidesOfRider()))) {
        mirror.rider = BodyOf(rider).value_or("");
        TakeUpAgain(mirror);
      }
      last.rider = there;
    }
    if (record_.shows.delivery_status && !IsPlannedAhead()) {
      const bool is_new = !before_ || HasChangedDelivery(SidesOfDelivery());
      if (is_new || shown().delivery_status == requested_.delivery_status) {
        mirror.delivery_status = shown().delivery_status;
        mirror.delivery_status_reason = shown().delivery_status_reason;
        mirror.delivery_status_by_rider =
            shown().rider && shown().delivery_status == DeliveryStatus::kRiderAssigned;
      }
      last.delivery_status = NameOf(shown().delivery_status);
      last.delivery_status_reason = shown().delivery_status_reason;
    }
    // What the backup knew tells whether the cloud has changed the order since.
    if (!is_behind_ || comes_back_) {
      last.version = shown().version;
      last.updated_at = shown().updated_at;
    }
    if (shown().cancel_reason) last.cancel_reason = shown().cancel_reason;
  }

  // Compares the order with what was learnt, if anything was.
  void Store(store::OrderRow row, const Order& after) {
    if (settings_.rules.restored_at && IsOfNow() && !IsPlannedAhead()) {
      row.mirror.epoch = events::ExtentOf(tx_, company_).epoch;
    }
    NoteMaker();
    const bool is_answer = settings_.answered != nullptr;
    const bool is_new =
        !row_ || row.mirror != row_->mirror || after.version != row_->planned_version;
    if (is_new || is_answer) {
      const Makes makes = is_answer ? Makes::kNext : Makes::kCreation;
      row = CompareAgain(tx_, after, std::move(row), settings_.rules, makes, stamp_);
    }
    if (after.origin == orders::Origin::kBox && row.waiting == 0) {
      CompareSides(tx_, after, record_, row.mirror, stamp_.now);
    }
  }

  // A creation that the cloud dates as it was sent is this box's, and not a till's there.
  void NoteMaker() {
    const Step* const step = settings_.answered;
    const bool is_ours = step && step->kind == StepKind::kPlace && !record_.maker.empty() &&
                         shown().created_at == step->occurred_at;
    const Makers* const makers = settings_.rules.makers;
    if (!is_ours || (makers && makers->contains(record_.maker))) return;
    AddMaker(tx_, company_, record_.maker);
  }

  // A cloud that dates orders by its own clock may count one to another business day.
  void CompareDates(LastShown& last) {
    if (last.is_dated || shown().created_at == 0) return;
    last.is_dated = true;
    CompareBusinessDays(tx_, settings_.company, before_->created_at, shown().created_at,
                        stamp_.now);
  }

  db::Tx& tx_;
  const TakeSettings& settings_;
  const db::CompanyId company_;
  CloudRecord record_;
  const db::Stamp& stamp_;
  std::string order_id_;
  std::optional<Order> before_;
  std::optional<store::OrderRow> row_;
  std::optional<Waiting> under_way_;
  Mirror mirror_, requested_;  // Request()
  bool is_behind_ = false;     // IsBehind (cloud/pending.h)
  bool comes_back_ = false;    // the record tells what was lost
  bool is_rider_taken_ = false;
};

}  // namespace

Taken TakeOrder(db::Tx& tx, const TakeSettings& settings, json::Value record,
                const db::Stamp& stamp) {
  try {
    CloudRecord shown = ReadCloudRecord(
        record,
        ContextOf(tx, settings.company, settings.rules.rider_provider, settings.platform_name));
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
  store::Park(tx, company, *order_id, kParkedGone, "");
  return Taken::kParked;
}

bool FinishCancel(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                  const SendRules& rules, const db::Stamp& stamp) {
  const std::string id(order_id);
  if (store::WhyParked(tx, company, id) != kCancelledButPaid) return false;
  const auto order = orders::Load(tx, company, id);
  auto row = store::FindOrder(tx, company, id);
  if (!order || !row || HasActivePayments(*order)) return false;
  const std::vector<Step> remaining = RemainingSteps(tx, *row, *order, rules);
  orders::Cancel(tx, {.company = company, .key = id, .actor = std::string(kActor)},
                 row->mirror.shown.cancel_reason.value_or(std::string(kCancelledThere)), stamp);
  DropSteps(tx, company, id, remaining, stamp.now);
  row->mirror.status = Status::kCancelled;
  CompareAgain(tx, *orders::Load(tx, company, id), *std::move(row), rules, Makes::kCreation, stamp);
  store::Unpark(tx, company, id);
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
