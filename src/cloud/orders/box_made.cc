#include "cloud/orders/box_made.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/problem.h"
#include "cloud/orders/row_match.h"
#include "cloud/orders/authority.h"
#include "cloud/orders/restored_merge.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/merge.h"
#include "cloud/orders/next.h"
#include "cloud/orders/pending.h"
#include "cloud/orders/shared_state.h"
#include "cloud/orders/sides.h"
#include "json/reader.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "orders/pricing.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryStatus;
using orders::Order;
using orders::Status;

constexpr std::string_view kCancelledThere = "cancelled in the cloud";
constexpr int64_t kAheadMsMax = 300'000;
constexpr std::string_view kPaidHere =
    R"({"title":"Cancelled But Paid","detail":"The cloud has cancelled this order, and it has )"
    R"(active payments here: cancel them, and the order becomes CANCELLED."})";

bool HasActivePayments(const Order& order) {
  return std::ranges::any_of(order.payments,
                             [](const orders::Payment& row) { return !row.canceled_at; });
}

// Whether the cloud may have changed the order since it showed it last.
bool IsChangedSince(const Order& there, const LastShown& shown) {
  if (there.version != 0) {
    return there.version > shown.version || there.updated_at > shown.updated_at;
  }
  return there.updated_at == 0 || there.updated_at >= shown.updated_at;
}

class BoxMade {
 public:
  explicit BoxMade(Match& match)
      : match_(match),
        tx_(match.tx),
        settings_(match.settings),
        stamp_(match.stamp),
        company_(match.company()),
        shown_(match.shown()) {}

  Merged Take() {
    PutAlias(match_);
    store::OrderRow row = match_.row.value_or(store::OrderRow{.order_id = match_.order_id});
    if (match_.comes_back) DropUnderWay();
    const SharedState state(match_);
    Mirror& mirror = row.mirror;
    const int64_t version = match_.before->version;
    if (settings_.answered) {
      Accept(mirror, *settings_.answered, *match_.before);
      MatchMade(mirror, *match_.before, match_.record, *settings_.answered);
    }
    if (!mirror.is_placed) LearnPlaced(match_, row, mirror);
    MatchRows(mirror, *match_.before, match_.record, RowsThatWait());
    if (match_.comes_back) BringBackLost(mirror);
    if (store::WhyParked(tx_, company_, match_.order_id) == kParkedGone) {
      store::Unpark(tx_, company_, match_.order_id);
    }
    const DeliveryChoice delivery = state.ChooseTheDelivery();
    if (MayCloudChange(Part::kStatus)) MoveTo(LastOwnMove(Status::kDelivered));
    if (MayCloudChange(Part::kRider) && match_.record.shows.rider && state.TakesTheRider())
      AssignRider();
    if (MayCloudChange(Part::kDelivery)) ReportDelivery(delivery);
    if (MayCloudChange(Part::kStatus)) MoveTo(Status::kFinalized);
    const auto remaining = shown_.status == Status::kCancelled
                               ? RemainingSteps(tx_, row, match_.Now(), settings_.rules)
                               : std::vector<Step>();
    const bool is_paid = MayCloudChange(Part::kCancel) && !CancelOrSayPaid();
    const bool is_cancelled = !is_paid && shown_.status == Status::kCancelled;
    const Order after = match_.Now();
    // An order that is paid locally is CANCELLED for nobody until its payments are cancelled.
    const Status status = mirror.status;
    state.Learn(mirror, is_rider_taken_ ? after.rider : shown_.rider);
    if (is_paid) mirror.status = status;
    // A cloud that does not show it has set it with the rider, as this box has.
    if (is_rider_taken_ && !match_.record.shows.delivery_status && after.delivery_status_by_rider) {
      mirror.delivery_status = after.delivery_status;
      mirror.delivery_status_by_rider = true;
    }
    if (is_cancelled) DropSteps(tx_, company_, match_.order_id, remaining, stamp_.now);
    CompareDates(mirror.shown);
    StoreLearnt(match_, std::move(row), after);
    if (is_paid) store::Park(tx_, company_, match_.order_id, kCancelledButPaid, kPaidHere);
    if (is_cancelled) store::Unpark(tx_, company_, match_.order_id);
    if (is_paid) return Merged::kParked;
    return after.version != version ? Merged::kWritten : Merged::kUnchanged;
  }

 private:
  bool MayCloudChange(Part part) const {
    return MayChange(Side::kCloud, match_.before->origin, part);
  }

  // The request that was under way when the backup was made was answered since, and is not sent
  // again: what still differs becomes a new request. A creation stays in the journal: the cloud
  // makes one order for its key, however often it comes.
  void DropUnderWay() {
    if (!match_.under_way || match_.under_way->step.kind == StepKind::kPlace) return;
    store::DeleteSteps(tx_, company_, match_.order_id);
    match_.under_way.reset();
  }

  void BringBackLost(Mirror& mirror) {
    if (!IsChangedSince(shown_, mirror.shown)) return;
    Order here = *match_.before;
    Mirror learnt = mirror;
    const bool is_as_restored = here.updated_at < *settings_.rules.restored_at;
    const bool has_changed = MergeRestored(here, learnt, match_.record, is_as_restored);
    const bool is_possible =
        !has_changed || (orders::Price(here, stamp_.now) && Ingest(match_, std::move(here), {}));
    if (!is_possible) return;  // the differences tell
    mirror = std::move(learnt);
    if (has_changed) match_.before = match_.Now();
  }

  // Rows that the cloud does not have yet, as far as is known: the answer to their request names
  // them. What a record shows meanwhile may be an equal row of the request under way.
  RowIds RowsThatWait() const {
    RowIds ids;
    if (match_.comes_back) return ids;  // the lost box may have sent them
    if (match_.row && match_.row->mirror.is_placed) {
      AddUnknown(ids, match_.before->combos, match_.row->mirror.combos);
      AddUnknown(ids, match_.before->payments, match_.row->mirror.payments);
      AddUnknown(ids, match_.before->discounts, match_.row->mirror.discounts);
    }
    if (!match_.under_way || !AddsRows(match_.under_way->step.kind)) return ids;
    for (const std::string& id : match_.under_way->step.row_ids) {
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

  orders::Target At(std::optional<UtcMs> at) const {
    // A time that cannot be true is left to the stamp.
    const bool is_possible =
        at && *at >= match_.before->created_at && *at <= stamp_.now + kAheadMsMax;
    return {.company = company_,
            .key = match_.order_id,
            .actor = std::string(kCloudActor),
            .occurred_at = is_possible ? at : std::nullopt};
  }

  // The last status up to the limit that the cloud has reached by a move of its own. A step that a
  // later move implies is left to that move: nobody has called the dishes ready or delivered by it
  // (contract section 20).
  Status LastOwnMove(Status limit) const {
    Status last = Status::kPending;
    for (const orders::StatusChange& change : shown_.status_history) {
      if (!change.implied && change.status <= limit) last = std::max(last, change.status);
    }
    return last;
  }

  // Only forward.
  void MoveTo(Status limit) {
    const Status target = std::min(shown_.status, limit);
    if (shown_.status == Status::kCancelled || match_.before->status == Status::kCancelled) return;
    orders::Advance(tx_, At(ReachedAt(shown_, target)), target, stamp_);
  }

  void AssignRider() {
    const Order now = match_.Now();
    if (orders::IsClosed(now.status)) return;
    is_rider_taken_ = true;
    if (!shown_.rider) {
      orders::UnassignRider(tx_, At(std::nullopt), stamp_);
      return;
    }
    const orders::Rider& rider = *shown_.rider;
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
    const Order now = match_.Now();
    // Without its rider the order has lost what somebody in the cloud has reported.
    const bool was_lost = is_rider_taken_ && !now.delivery_status && match_.before->delivery_status;
    const bool takes =
        was_lost || choice == DeliveryChoice::kTake || choice == DeliveryChoice::kTakeVia;
    // Null follows from the rider who was removed.
    const bool is_possible = shown_.delivery_status && !orders::IsClosed(now.status) &&
                             now.service_type == orders::ServiceType::kDelivery;
    if (!takes || !is_possible) return;
    if (choice == DeliveryChoice::kTakeVia) {
      orders::ReportDelivery(tx_, At(std::nullopt), {.status = DeliveryStatus::kOnTheWay}, stamp_);
    }
    orders::DeliveryReport report{.status = *shown_.delivery_status};
    const bool has_reason =
        shown_.delivery_status == DeliveryStatus::kNotDelivered && shown_.delivery_status_reason;
    if (has_reason) report.reason.emplace(shown_.delivery_status_reason);
    orders::ReportDelivery(tx_, At(std::nullopt), report, stamp_);
  }

  void NoteConflict() {
    store::PutDifference(tx_, company_,
                         {.order_id = match_.order_id,
                          .kind = DifferenceKind::kStatus,
                          .box = NameOf(match_.before->delivery_status),
                          .cloud = NameOf(shown_.delivery_status),
                          .detail = "delivery status"},
                         stamp_.now);
  }

  // False where active local payments keep the order from being cancelled as it is in the cloud.
  bool CancelOrSayPaid() {
    if (shown_.status != Status::kCancelled) return true;
    const Order now = match_.Now();
    if (now.status == Status::kCancelled) return true;
    if (HasActivePayments(now)) return false;
    orders::Cancel(tx_, At(shown_.canceled_at), ReasonOf(shown_.cancel_reason), stamp_);
    return true;
  }

  static std::string ReasonOf(const std::optional<std::string>& reason) {
    return reason.value_or(std::string(kCancelledThere));
  }

  // A cloud that dates orders by its own clock may count one to another business day.
  void CompareDates(LastShown& last) {
    if (last.is_dated || shown_.created_at == 0) return;
    last.is_dated = true;
    CompareBusinessDays(tx_, settings_.company, match_.before->created_at, shown_.created_at,
                        stamp_.now);
  }

  Match& match_;
  db::Tx& tx_;
  const MergeSettings& settings_;
  const db::Stamp& stamp_;
  const db::CompanyId company_;
  const Order& shown_;
  bool is_rider_taken_ = false;
};

}  // namespace

Merged MergeBoxMade(Match& match) { return BoxMade(match).Take(); }

void AcceptRepeated(const Match& match) {
  const Step* const answered = match.settings.answered;
  if (!answered) return;
  store::OrderRow row = *match.row;
  Mirror& mirror = row.mirror;
  Accept(mirror, *answered, *match.before);
  mirror.rider = match.row->mirror.rider;
  mirror.delivery_status = match.row->mirror.delivery_status;
  mirror.delivery_status_reason = match.row->mirror.delivery_status_reason;
  mirror.delivery_status_by_rider = match.row->mirror.delivery_status_by_rider;
  MatchMade(mirror, *match.before, match.record, *answered);
  CompareAgain(match.tx, *match.before, std::move(row), match.settings.rules, Makes::kNext,
               match.stamp);
}

bool FinishCancel(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                  const SendRules& rules, const db::Stamp& stamp) {
  const std::string id(order_id);
  if (store::WhyParked(tx, company, id) != kCancelledButPaid) return false;
  const auto order = orders::Load(tx, company, id);
  auto row = store::FindOrder(tx, company, id);
  if (!order || !row || HasActivePayments(*order)) return false;
  const std::vector<Step> remaining = RemainingSteps(tx, *row, *order, rules);
  orders::Cancel(tx, {.company = company, .key = id, .actor = std::string(kCloudActor)},
                 row->mirror.shown.cancel_reason.value_or(std::string(kCancelledThere)), stamp);
  DropSteps(tx, company, id, remaining, stamp.now);
  row->mirror.status = Status::kCancelled;
  CompareAgain(tx, *orders::Load(tx, company, id), *std::move(row), rules, Makes::kCreation, stamp);
  store::Unpark(tx, company, id);
  return true;
}

}  // namespace comanda::cloud
