#include "cloud/orders/record_merge.h"

#include <utility>
#include <vector>

#include "aliases/aliases.h"
#include "base/id.h"
#include "cloud/orders/row_match.h"
#include "cloud/orders/box_made.h"
#include "cloud/orders/cloud_record.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/link.h"
#include "cloud/orders/match.h"
#include "cloud/orders/next.h"
#include "cloud/orders/shared_state.h"
#include "cloud/orders/went_back.h"
#include "orders/external_order.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::Order;
using orders::Origin;

RecordContext ContextOf(db::Session& session, const company::Company& company,
                        std::string_view platform_there, std::string_view platform_here) {
  return {.company = company,
          .platform_there = platform_there,
          .platform_here = platform_here,
          .find_here = [&session, id = company.company_id](Kind kind, std::string_view cloud_id) {
            return aliases::FindBoxId(session, id, kind, cloud_id);
          }};
}

bool IsOlder(const Order& there, const LastShown& shown) {
  const bool has_lower_version = there.version != 0 && there.version < shown.version;
  // A cloud that was restored from a backup counts its versions from there.
  return has_lower_version && there.updated_at <= shown.updated_at;
}

// Whether the box made the order after the backup from which it was restored, and has changed
// nothing of it since it came back (contract section 15.5).
bool IsLost(const Match& match) {
  const Makers* const makers = match.settings.rules.makers;
  const bool is_of_another = !match.record.maker.empty() && makers && !makers->empty() &&
                             !makers->contains(match.record.maker);
  const bool is_of_api =
      match.shown().source == orders::kApiSource && match.shown().reference && !is_of_another;
  if (match.before) {
    const bool is_as_taken = match.row && match.row->mirror.last_position == 0 &&
                             match.row->planned_version == match.before->version;
    return match.before->origin == Origin::kBox && is_as_taken &&
           IsLostTime(match.tx, match.company(), match.before->created_at);
  }
  return is_of_api && match.shown().created_at != 0 &&
         IsLostTime(match.tx, match.company(), match.shown().created_at);
}

// An order that the cloud made, or that the box has lost.
Merged MergeCloudMade(const Match& match) {
  const bool was_lost = IsLost(match);
  store::OrderRow row = match.row.value_or(store::OrderRow{.order_id = match.order_id});
  const SharedState state(match);
  Order draft = match.shown();
  draft.id = match.order_id;
  draft.origin = was_lost ? Origin::kBox : Origin::kCloud;
  if (match.before) state.KeepOurs(draft);
  const auto written = Ingest(match, std::move(draft), match.record.shows);
  if (!written) return Merged::kUnreadable;
  PutAlias(match);
  const Order after = match.Now();
  if (match.settings.answered) Accept(row.mirror, *match.settings.answered, after);
  if (was_lost) MatchRows(row.mirror, after, match.record);
  if (!row.mirror.is_placed) LearnPlaced(match, row, row.mirror);
  const bool is_cancelled = after.status == orders::Status::kCancelled;
  const auto lost = is_cancelled ? RemainingSteps(match.tx, row, after, match.settings.rules)
                                 : std::vector<Step>();
  state.Learn(row.mirror, match.shown().rider);
  if (is_cancelled) DropSteps(match.tx, match.company(), match.order_id, lost, match.stamp.now);
  StoreLearnt(match, std::move(row), after);
  return written->event_seq ? Merged::kWritten : Merged::kUnchanged;
}

}  // namespace

Merged MergeRecord(db::Tx& tx, const MergeSettings& settings, json::Value record,
                   const db::Stamp& stamp) {
  try {
    CloudRecord shown = ReadCloudRecord(
        record,
        ContextOf(tx, settings.company, settings.rules.rider_provider, settings.platform_name));
    Match match = FindMatch(tx, settings, std::move(shown), stamp);
    const bool is_ours = match.before && match.before->origin == Origin::kBox;
    if (is_ours && HasGoneBack(match)) {
      // What the answer shows is not all that the cloud has lost.
      if (settings.answered) {
        ReadAgain(tx, match.company(), match.order_id, settings.rules, stamp);
        return Merged::kUnchanged;
      }
      GoBack(match);
    }
    if (match.before && match.row && IsOlder(match.shown(), match.row->mirror.shown)) {
      if (is_ours) AcceptRepeated(match);
      return Merged::kUnchanged;
    }
    return is_ours && !IsLost(match) ? MergeBoxMade(match) : MergeCloudMade(match);
  } catch (const UnreadableRecord&) {
    return Merged::kUnreadable;
  }
}

Merged MergeGone(db::Tx& tx, db::CompanyId company, std::string_view cloud_id,
                 const db::Stamp& stamp) {
  const std::string key = ParseId(cloud_id).value_or(std::string(cloud_id));
  const auto order_id = aliases::FindBoxId(tx, company, Kind::kOrder, key);
  const auto order = order_id ? orders::Load(tx, company, *order_id) : std::nullopt;
  if (!order) return Merged::kUnchanged;
  if (order->origin == Origin::kCloud) {
    const auto gone = orders::MarkGone(tx, company, *order_id, stamp);
    return gone && gone->event_seq ? Merged::kWritten : Merged::kUnchanged;
  }
  const auto row = store::FindOrder(tx, company, *order_id);
  if (row && row->mirror.is_to_read) return Merged::kUnchanged;  // it is placed again
  if (!row) {
    store::PutOrder(tx, company,
                    {.order_id = *order_id,
                     .is_open = !orders::IsClosed(order->status),
                     .touched_at = order->updated_at});
  }
  if (store::WhyParked(tx, company, *order_id) == kParkedGone) return Merged::kUnchanged;
  store::Park(tx, company, *order_id, kParkedGone, "");
  return Merged::kParked;
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
