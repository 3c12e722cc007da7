#include "cloud/orders/went_back.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "aliases/aliases.h"
#include "cloud/orders/restored_merge.h"
#include "cloud/orders/row_match.h"
#include "cloud/orders/shared_state.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

using orders::Order;

bool IsEnded(const auto& row) { return row.canceled_at.has_value(); }
bool IsEnded(const orders::Discount&) { return false; }

// The row of the cloud with that id; null: none.
template <typename Kind>
const Kind* FindThere(const std::vector<Kind>& there, const std::vector<std::string>& cloud_ids,
                      const Row& row) {
  if (row.cloud_id.empty()) return nullptr;
  const auto found = std::ranges::find(cloud_ids, row.cloud_id);
  return found == cloud_ids.end() ? nullptr
                                  : &there[static_cast<size_t>(found - cloud_ids.begin())];
}

template <typename Kind>
bool ShowsEach(const Rows& mirror, const std::vector<Kind>& there,
               const std::vector<std::string>& cloud_ids) {
  return std::ranges::all_of(mirror, [&](const auto& known) {
    const Row& row = known.second;
    const Kind* const shown = FindThere(there, cloud_ids, row);
    if (row.cloud_id.empty()) return true;
    if constexpr (std::is_same_v<Kind, orders::Discount>)
      return (shown != nullptr) != row.is_cancelled;
    return shown && (!row.is_cancelled || IsEnded(*shown));
  });
}

// Rows whose ids are not known yet are no loss: the answer to their request names them.
bool ShowsEachRow(const Mirror& mirror, const CloudRecord& record) {
  const Order& there = record.order;
  return ShowsEach(mirror.combos, there.combos, record.combo_ids) &&
         ShowsEach(mirror.payments, there.payments, record.payment_ids) &&
         (!record.shows.discounts ||
          ShowsEach(mirror.discounts, there.discounts, record.discount_ids));
}

template <typename Kind>
void KeepShown(Rows& mirror, const std::vector<Kind>& there,
               const std::vector<std::string>& cloud_ids) {
  std::erase_if(mirror,
                [&](const auto& known) { return !FindThere(there, cloud_ids, known.second); });
  for (auto& known : mirror) {
    known.second.is_cancelled = IsEnded(*FindThere(there, cloud_ids, known.second));
  }
}

// A rider whom the cloud has assigned since is a change of the cloud, which is merged as ever.
void GoBackToRider(const Match& match, Mirror& mirror) {
  const Order& there = match.shown();
  const std::string body = SharedState(match).BodyOf(there.rider).value_or("");
  const bool is_new = there.rider && there.rider->assigned_at > mirror.shown.updated_at;
  if (is_new || body == mirror.shown.rider) return;
  mirror.rider = body;
  mirror.shown.rider = body;
}

void GoBackToDelivery(const Match& match, Mirror& mirror) {
  const Order& there = match.shown();
  const bool is_new =
      there.delivery_status && there.updated_at > mirror.shown.updated_at &&
      FindMove(mirror.delivery_status, *there.delivery_status) == orders::DeliveryMove::kMove;
  if (is_new) return;
  mirror.delivery_status = there.delivery_status;
  mirror.delivery_status_reason = there.delivery_status_reason;
  mirror.delivery_status_by_rider =
      there.rider && there.delivery_status == orders::DeliveryStatus::kRiderAssigned;
  mirror.shown.delivery_status =
      there.delivery_status ? std::string(Name(*there.delivery_status)) : "";
  mirror.shown.delivery_status_reason = there.delivery_status_reason;
}

// What was refused, or not found, because the cloud had lost it.
void Unpark(db::Tx& tx, db::CompanyId company, const std::string& order_id) {
  const std::string why = store::WhyParked(tx, company, order_id);
  if (why == kParkedGone || why == kParkedRefused) store::Unpark(tx, company, order_id);
}

}  // namespace

std::vector<std::string> FindSent(db::Session& session, db::CompanyId company, UtcMs now) {
  std::vector<std::string> ids = orders::FindIdsChangedSince(session, company, now - kSentOrdersMs);
  std::erase_if(ids, [&](const std::string& id) { return !store::HasOrder(session, company, id); });
  return ids;
}

int64_t CountSent(db::Session& session, db::CompanyId company, UtcMs now) {
  return static_cast<int64_t>(FindSent(session, company, now).size());
}

bool HasGoneBack(const Match& match) {
  if (!match.row || !match.row->mirror.is_placed) return false;
  const Mirror& mirror = match.row->mirror;
  const LastShown& last = mirror.shown;
  const Order& there = match.shown();
  const bool is_of_now = match.IsOfNow();
  if (mirror.is_to_read) return is_of_now;
  if (there.version == 0 || last.version == 0) return false;
  // Each change has a higher version than the one before.
  if (there.version <= last.version && there.updated_at > last.updated_at) return true;
  const bool is_same = there.version == last.version && there.updated_at == last.updated_at;
  const bool is_newer = there.version > last.version || is_same;
  const bool shows_all = there.status >= mirror.status && ShowsEachRow(mirror, match.record);
  return match.settings.rules.went_back_at && is_of_now && (!is_newer || !shows_all);
}

void GoBack(Match& match) {
  Mirror& mirror = match.row->mirror;
  const Order& there = match.shown();
  const CloudRecord& record = match.record;
  // What differs becomes a new request.
  store::DeleteSteps(match.tx, match.company(), match.order_id);
  match.under_way.reset();
  Unpark(match.tx, match.company(), match.order_id);
  mirror.is_to_read = false;
  LearnFields(mirror.fields, record);
  if (record.fields.contains("comment")) mirror.fields.comment = there.comment;
  if (record.shows.combos) KeepShown(mirror.combos, there.combos, record.combo_ids);
  if (record.shows.payments) KeepShown(mirror.payments, there.payments, record.payment_ids);
  if (record.shows.discounts) KeepShown(mirror.discounts, there.discounts, record.discount_ids);
  MatchRows(mirror, *match.before, record);
  // Of an order that is cancelled there, what it had before is found to be lost (DropSteps).
  mirror.status =
      there.status == orders::Status::kCancelled ? orders::Status::kDelivered : there.status;
  if (record.shows.rider) GoBackToRider(match, mirror);
  if (record.shows.delivery_status) GoBackToDelivery(match, mirror);
  mirror.shown.version = there.version;
  mirror.shown.updated_at = there.updated_at;
  mirror.shown.etag.clear();
  mirror.shown.cancel_reason = there.cancel_reason;
  match.went_back = true;
}

void ReadAgain(db::Tx& tx, db::CompanyId company, const std::string& order_id,
               const SendRules& rules, const db::Stamp& stamp) {
  auto row = store::FindOrder(tx, company, order_id);
  const auto order = orders::Load(tx, company, order_id);
  if (!row || !order) return;
  if (order->origin == orders::Origin::kCloud) {
    store::NoteDifference(
        tx, company,
        {.order_id = order_id,
         .kind = DifferenceKind::kStatus,
         .box = std::string(Name(order->status)),
         .cloud = "",
         .detail = "the cloud went back, and may have lost this order of its own"},
        stamp.now);
    return;
  }
  if (!row->mirror.is_placed) return;
  row->mirror.is_to_read = true;
  Unpark(tx, company, order_id);
  CompareAgain(tx, *order, *std::move(row), rules, Makes::kCreation, stamp);
}

bool PlaceAgain(db::Tx& tx, db::CompanyId company, const std::string& order_id,
                const SendRules& rules, const db::Stamp& stamp) {
  auto row = store::FindOrder(tx, company, order_id);
  const auto order = orders::Load(tx, company, order_id);
  if (!row || !order || order->origin == orders::Origin::kCloud) return false;
  if (!row->mirror.is_to_read && !rules.went_back_at) return false;
  row->mirror = {.last_position = row->mirror.last_position,
                 .epoch = row->mirror.epoch,
                 .given_up = std::move(row->mirror.given_up)};
  store::DeleteSteps(tx, company, order_id);
  aliases::Remove(tx, company, aliases::Kind::kOrder, order_id);
  CompareAgain(tx, *order, *std::move(row), rules, Makes::kNext, stamp);
  return true;
}

}  // namespace comanda::cloud
