#include "cloud/orders/shared_state.h"

#include <algorithm>
#include <string_view>

#include "aliases/aliases.h"
#include "cloud/orders/authority.h"
#include "cloud/orders/bodies.h"
#include "cloud/orders/next.h"
#include "json/reader.h"
#include "net/reply.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::DeliveryStatus;
using orders::Order;

bool IsOfRider(StepKind kind) { return kind == StepKind::kRider || kind == StepKind::kNoRider; }

}  // namespace

SharedState::SharedState(const Match& match) : match_(match) {
  if (match.row) mirror_ = match.row->mirror;
  requested_ = mirror_;
  const Order& order = match.before ? *match.before : match.shown();
  if (match.settings.answered) Accept(requested_, *match.settings.answered, order);
  if (match.under_way) Accept(requested_, match.under_way->step, order);
}

std::optional<std::string> SharedState::BodyOf(const std::optional<orders::Rider>& rider) const {
  if (!rider) return "";
  return RiderBody(*rider, match_.settings.rules.rider_provider,
                   [&](std::string_view, Kind kind,
                       const std::optional<std::string>& box_id) -> std::optional<std::string> {
                     if (!box_id) return std::nullopt;
                     const auto alias =
                         aliases::FindByBoxId(match_.tx, match_.company(), kind, *box_id);
                     return alias ? std::optional(alias->cloud_id) : std::nullopt;
                   });
}

RiderSides SharedState::SidesOfRider() const {
  const Order& here = *match_.before;
  const Order& shown = match_.shown();
  const UtcMs shown_at = shown.updated_at == 0 ? match_.stamp.now : shown.updated_at;
  const bool is_dated = shown.rider && shown.rider->assigned_at != 0;
  return {.here = BodyOf(here.rider),
          .there = BodyOf(shown.rider).value_or(""),
          .before = mirror_,
          .requested = requested_,
          .here_at = here.rider ? here.rider->assigned_at : here.updated_at,
          .there_at = is_dated ? shown.rider->assigned_at : shown_at};
}

bool SharedState::AnswersRider() const {
  return match_.settings.answered && IsOfRider(match_.settings.answered->kind);
}

// The cloud may show the rider of the request that it answers in other words; another name is
// another rider.
bool SharedState::ShowsRequestedRider() const {
  if (!AnswersRider()) return false;
  const std::optional<orders::Rider>& rider = match_.shown().rider;
  if (!rider || requested_.rider.empty()) return !rider && requested_.rider.empty();
  const json::Document body = json::Document::ParseStored(requested_.rider);
  const std::string name = net::TextAt(body.root(), "name");
  return name.empty() || rider->name.value_or(name) == name;
}

bool SharedState::TakesTheRider() const {
  return !match_.IsPlannedAhead() && !ShowsRequestedRider() && TakesRider(SidesOfRider());
}

DeliverySides SharedState::SidesOfDelivery() const {
  const Order& here = *match_.before;
  const Order& shown = match_.shown();
  const Step* const answered = match_.settings.answered;
  return {.here = here.delivery_status,
          .there = shown.delivery_status,
          .reason_here = here.delivery_status_reason,
          .reason_there = shown.delivery_status_reason,
          .before = mirror_,
          .requested = requested_,
          .here_by_rider = here.delivery_status_by_rider,
          .has_changed_rider = BodyOf(here.rider) != mirror_.rider,
          .is_without_rider = answered && answered->kind == StepKind::kNoRider && !shown.rider};
}

DeliveryChoice SharedState::ChooseTheDelivery() const {
  const bool is_comparable = match_.record.shows.delivery_status && !match_.IsPlannedAhead();
  return is_comparable ? ChooseDelivery(SidesOfDelivery()) : DeliveryChoice::kKeep;
}

void SharedState::KeepOurs(Order& shown) const {
  const Order& here = *match_.before;
  const bool same_rider = BodyOf(shown.rider) == BodyOf(here.rider);
  const bool takes_rider = match_.record.shows.rider && (same_rider || TakesTheRider());
  if (MayChange(Side::kBox, here.origin, Part::kRider) && !takes_rider) shown.rider = here.rider;
  if (!MayChange(Side::kBox, here.origin, Part::kDelivery)) return;
  const DeliveryChoice choice = ChooseTheDelivery();
  if (choice == DeliveryChoice::kTake || choice == DeliveryChoice::kTakeVia) return;
  shown.delivery_status = here.delivery_status;
  shown.delivery_status_reason = here.delivery_status_reason;
  shown.delivery_status_by_rider = here.delivery_status_by_rider;
  if (!shown.delivered_by) shown.delivered_by = here.delivered_by;
}

void SharedState::LearnRider(Mirror& mirror, const std::optional<orders::Rider>& rider) const {
  const std::string there = BodyOf(match_.shown().rider).value_or("");
  if (AnswersRider() && !ShowsRequestedRider()) {
    // Somebody has changed him since; or the cloud takes no riders, which is asked once more.
    const bool is_first = SetAside(mirror, requested_.rider);
    if (is_first || HasChangedRider(SidesOfRider())) mirror.rider = BodyOf(rider).value_or("");
  } else if (!match_.before || there == requested_.rider ||
             (!AnswersRider() && HasChangedRider(SidesOfRider()))) {
    mirror.rider = BodyOf(rider).value_or("");
    TakeUpAgain(mirror);
  }
  mirror.shown.rider = there;
}

void SharedState::LearnDelivery(Mirror& mirror) const {
  const Order& shown = match_.shown();
  const bool is_new = !match_.before || HasChangedDelivery(SidesOfDelivery());
  if (is_new || shown.delivery_status == requested_.delivery_status) {
    mirror.delivery_status = shown.delivery_status;
    mirror.delivery_status_reason = shown.delivery_status_reason;
    mirror.delivery_status_by_rider =
        shown.rider && shown.delivery_status == DeliveryStatus::kRiderAssigned;
  }
  mirror.shown.delivery_status = NameOf(shown.delivery_status);
  mirror.shown.delivery_status_reason = shown.delivery_status_reason;
}

void SharedState::Learn(Mirror& mirror, const std::optional<orders::Rider>& rider) const {
  const Order& shown = match_.shown();
  const bool is_comparable = !match_.IsPlannedAhead();
  mirror.status = std::max(mirror.status, shown.status);
  if (match_.record.shows.rider && is_comparable) LearnRider(mirror, rider);
  if (match_.record.shows.delivery_status && is_comparable) LearnDelivery(mirror);
  // What the backup knew tells whether the cloud has changed the order since.
  if (!match_.is_behind || match_.comes_back) {
    const bool is_same = shown.version == mirror.shown.version && shown.version != 0;
    if (!is_same || !match_.settings.etag.empty()) {
      mirror.shown.etag = shown.version == 0 ? "" : match_.settings.etag;
    }
    mirror.shown.version = shown.version;
    mirror.shown.updated_at = shown.updated_at;
  }
  if (shown.cancel_reason) mirror.shown.cancel_reason = shown.cancel_reason;
}

}  // namespace comanda::cloud
