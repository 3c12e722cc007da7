#include "cloud/orders/match.h"

#include <utility>

#include "aliases/aliases.h"
#include "base/problem.h"
#include "cloud/orders/restored_merge.h"
#include "cloud/link/link.h"
#include "cloud/orders/next.h"
#include "cloud/orders/pending.h"
#include "cloud/orders/sides.h"
#include "crypto/derived_id.h"
#include "events/log.h"
#include "orders/external_order.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::Order;

// The local order that has the reference, unless it is another order of the cloud already. No
// order changes its service type: one of another type was placed in the cloud by somebody else,
// before this box's own creation came.
std::optional<std::string> FindByReference(const Match& match) {
  if (!match.shown().reference) return std::nullopt;
  auto id = orders::FindByReference(match.tx, match.company(), *match.shown().reference);
  if (!id || aliases::FindByBoxId(match.tx, match.company(), Kind::kOrder, *id))
    return std::nullopt;
  const auto order = orders::Load(match.tx, match.company(), *id);
  if (!order || order->service_type != match.shown().service_type) return std::nullopt;
  return id;
}

// The id of the cloud, unless an order that was made locally has it.
std::string FreeId(const Match& match) {
  const auto same = orders::Load(match.tx, match.company(), match.shown().id);
  if (!same || same->origin == orders::Origin::kCloud) return match.shown().id;
  return crypto::DerivedId(match.settings.company.id, "cloud order " + match.record.cloud_id);
}

// References are unique here.
void LeaveReferenceToItsOrder(Match& match) {
  if (!match.shown().reference) return;
  const auto holder = orders::FindByReference(match.tx, match.company(), *match.shown().reference);
  if (holder && *holder != match.order_id) match.record.order.reference.reset();
}

// A creation that the cloud dates as it was sent is this box's, and not a till's there.
void NoteMaker(const Match& match) {
  const Step* const step = match.settings.answered;
  const bool is_ours = step && step->kind == StepKind::kPlace && !match.record.maker.empty() &&
                       match.shown().created_at == step->occurred_at;
  const Makers* const makers = match.settings.rules.makers;
  if (!is_ours || (makers && makers->contains(match.record.maker))) return;
  AddMaker(match.tx, match.company(), match.record.maker);
}

}  // namespace

Order Match::Now() const { return *orders::Load(tx, company(), order_id); }

Match FindMatch(db::Tx& tx, const MergeSettings& settings, CloudRecord record,
                const db::Stamp& stamp) {
  Match match{.tx = tx, .settings = settings, .stamp = stamp, .record = std::move(record)};
  if (auto alias = aliases::FindBoxId(tx, match.company(), Kind::kOrder, match.record.cloud_id)) {
    match.order_id = *std::move(alias);
  } else if (auto paired = FindByReference(match)) {
    match.order_id = *std::move(paired);
  } else {
    match.order_id = FreeId(match);
  }
  match.before = orders::Load(tx, match.company(), match.order_id);
  LeaveReferenceToItsOrder(match);
  match.row = store::FindOrder(tx, match.company(), match.order_id);
  match.under_way = store::FirstStep(tx, match.company(), match.order_id);
  const Mirror mirror = match.row ? match.row->mirror : Mirror();
  match.is_behind = match.before && !match.IsPlannedAhead() &&
                    IsBehind(tx, *match.before, mirror, settings.rules);
  match.comes_back = match.is_behind && match.IsOfNow();
  return match;
}

void PutAlias(const Match& match) {
  const auto known = aliases::FindByBoxId(match.tx, match.company(), Kind::kOrder, match.order_id);
  std::optional<std::string> public_id = match.record.cloud_public_id;
  if (const auto normalised = orders::NormalisedKey(public_id.value_or(""))) {
    public_id = normalised;
  }
  if (public_id) {
    const auto holder = aliases::FindByPublicId(match.tx, match.company(), *public_id);
    if (holder && *holder != match.order_id) public_id.reset();
  }
  if (!public_id && known) public_id = known->cloud_public_id;
  const bool is_known =
      known && known->cloud_id == match.record.cloud_id && known->cloud_public_id == public_id;
  if (is_known) return;
  aliases::Put(match.tx, match.company(),
               {.kind = Kind::kOrder,
                .cloud_id = match.record.cloud_id,
                .box_id = match.order_id,
                .cloud_public_id = public_id});
}

std::optional<orders::Record> Ingest(const Match& match, Order order, const orders::Shown& shows) {
  try {
    return orders::Ingest(match.tx, match.settings.company,
                          {.order = std::move(order),
                           .shows = shows,
                           .figures = orders::Figures::kTheirs,
                           .actor = std::string(kCloudActor),
                           .public_numbers = match.settings.public_numbers},
                          match.stamp);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

void LearnPlaced(const Match& match, const store::OrderRow& row, Mirror& mirror) {
  if (match.before) {
    const auto steps = RemainingSteps(match.tx, row, *match.before, match.settings.rules);
    const bool has_place = !steps.empty() && steps.front().kind == StepKind::kPlace;
    if (has_place) Accept(mirror, steps.front(), *match.before);
  }
  mirror.is_placed = true;
  if (match.comes_back) return;  // what the cloud has otherwise was changed
  LearnFields(mirror.fields, match.record);
}

void StoreLearnt(const Match& match, store::OrderRow row, const Order& after) {
  if (match.settings.rules.restored_at && match.IsOfNow() && !match.IsPlannedAhead()) {
    row.mirror.epoch = events::ExtentOf(match.tx, match.company()).epoch;
  }
  const Step* const answered = match.settings.answered;
  const bool is_compared = match.IsOfNow() || (answered && answered->kind == StepKind::kPlace);
  const std::optional<UtcMs> went_back_at = match.settings.rules.went_back_at;
  // Others are read before something of them is sent.
  if (went_back_at && is_compared && (row.is_open || row.waiting > 0)) {
    row.mirror.compared_for = *went_back_at;
  }
  NoteMaker(match);
  const bool is_answer = answered != nullptr;
  const bool is_new = !match.row || match.went_back || row.mirror != match.row->mirror ||
                      after.version != match.row->planned_version;
  if (is_new || is_answer) {
    const Makes makes = is_answer ? Makes::kNext : Makes::kCreation;
    row = CompareAgain(match.tx, after, std::move(row), match.settings.rules, makes, match.stamp);
  }
  if (after.origin == orders::Origin::kBox && row.waiting == 0) {
    CompareSides(match.tx, after, match.record, row.mirror, match.stamp.now);
  }
}

}  // namespace comanda::cloud
