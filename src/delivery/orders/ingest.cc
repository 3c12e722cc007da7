#include "delivery/orders/ingest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/concat.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "company/companies.h"
#include "delivery/orders/whole_order.h"
#include "json/reader.h"
#include "orders/lifecycle.h"

namespace comanda::delivery {
namespace {

constexpr size_t kReasonMax = 500;

// Changes one order in the name of its app.
class Change {
 public:
  Change(db::Tx& tx, const AccountKey& key, const OrderRow& row, const db::Stamp& stamp)
      : tx_(tx),
        stamp_(stamp),
        app_(key.app),
        target_{.company = key.company, .key = row.order_id, .actor = ActorOf(key.app)} {}

  void Advance(orders::Status status) const { orders::Advance(tx_, target_, status, stamp_); }

  // A report that does not continue the delivery is left out: a later one came before.
  void Deliver(orders::DeliveryStatus status, const orders::Order& order) const {
    if (order.service_type != orders::ServiceType::kDelivery) {
      return Advance(status == orders::DeliveryStatus::kDelivered ? orders::Status::kDelivered
                                                                  : orders::Status::kReady);
    }
    if (orders::FindMove(order.delivery_status, status) != orders::DeliveryMove::kMove) return;
    orders::ReportDelivery(tx_, target_, {.status = status}, stamp_);
  }

  void PayAtTheDoor(Minor amount, std::string payment_id) const {
    orders::PaymentDraft draft{.method_code = OfflineMethodOf(app_), .is_by_channel = true};
    draft.payment.id = std::move(payment_id);
    draft.payment.amount = amount;
    orders::Pay(tx_, target_, draft, stamp_);
  }

  void Cancel(const orders::Order& order, std::string_view reason) const {
    for (const orders::Payment& payment : order.payments) {
      if (!payment.canceled_at) orders::CancelPayment(tx_, target_, payment.id, stamp_);
    }
    orders::Cancel(tx_, target_, reason, stamp_);
  }

 private:
  db::Tx& tx_;
  const db::Stamp& stamp_;
  const std::string& app_;
  const orders::Target target_;
};

std::string CancelReason(const AppEvent& event) {
  std::string reason = Taken(event.words, kReasonMax);
  return reason.empty() ? "cancelled in the app" : reason;
}

// "2027-11-25 20:30:00"; the date and time may be parted by a T.
std::optional<UtcMs> ReadLocal(std::string_view text, const company::Company& company) {
  constexpr size_t kDateSize = 10, kMinuteSize = 16;
  if (text.size() < kMinuteSize || text[13] != ':') return std::nullopt;
  const auto day = ParseDay(text.substr(0, kDateSize));
  const auto number = [&](size_t at) {
    return IsDigit(text[at]) && IsDigit(text[at + 1]) ? (text[at] - '0') * 10 + text[at + 1] - '0'
                                                      : 99;
  };
  const int hour = number(11), minute = number(14);
  if (!day || hour > 23 || minute > 59) return std::nullopt;
  return company::FindZone(company).ToInstant(*day, hour * 60 + minute);
}

// The instants of an order for later whose app tells local time.
void PlaceInTime(AppOrder& order, const company::Company& company) {
  if (order.scheduled_local.empty()) return;
  order.scheduled_for = ParseInstant(order.scheduled_local);
  if (!order.scheduled_for) order.scheduled_for = ReadLocal(order.scheduled_local, company);
  if (!order.scheduled_for) return order.unread.push_back(order.scheduled_local);
  order.prepare_at = *order.scheduled_for - order.preparation_minutes * 60'000;
}

// The app no longer waits for the order to be confirmed.
bool EndsWaiting(News news) { return news >= News::kConfirmed && news <= News::kCancelled; }

}  // namespace

Arrival Prepare(std::string_view details, const OrderSource& source, const Provider& provider,
                const company::Company& company, UtcMs received_at) {
  const json::Document document = json::Document::Parse(details);
  AppOrder order = source.Map(document.root(), company.currency, company.currency_decimals);
  const int64_t accept_within_ms = source.capabilities().accept_within_s * 1'000;
  Arrival arrival;
  PlaceInTime(order, company);
  arrival.row = {.external_id = order.external_id,
                 .received_at = received_at,
                 .prepare_at = order.prepare_at,
                 .is_delivered_here = order.is_delivered_here,
                 .pending = std::max<Minor>(order.total - order.paid_online, 0),
                 .details = std::string(details)};
  if (accept_within_ms > 0) arrival.row.accept_by = received_at + accept_within_ms;
  arrival.converted = Convert(order, provider, company, received_at);
  return arrival;
}

void PlaceArrival(db::Tx& tx, const AccountKey& key, const company::Company& company,
                  Arrival arrival, const db::Stamp& stamp) {
  const auto known = store::FindOrder(tx, key, arrival.row.external_id);
  if (known && !known->order_id.empty()) return;
  Complete(tx, company, key.app, arrival.converted);
  arrival.row.order_id = orders::Ingest(tx, company, std::move(arrival.converted.whole), stamp).id;
  store::PutOrder(tx, key, arrival.row);
}

bool Apply(db::Tx& tx, const AccountKey& key, const AppEvent& event, const db::Stamp& stamp) {
  auto row = store::FindOrder(tx, key, event.external_id);
  CHECK(row && !row->order_id.empty(), "an event is applied to an order that is placed");
  const auto order = orders::Load(tx, key.company, row->order_id);
  if (!order) return true;
  row->is_accepted |= EndsWaiting(event.news);
  if (event.news != News::kOther) row->told = std::max(row->told, event.news);
  const Change change(tx, key, *row, stamp);
  const bool is_paid_now = event.news == News::kConcluded && row->pending > 0 &&
                           order->status != orders::Status::kCancelled;
  if (is_paid_now) change.PayAtTheDoor(std::exchange(row->pending, 0), NewId(stamp.now));
  const bool is_early = event.news == News::kConfirmed && row->prepare_at &&
                        stamp.now < *row->prepare_at && !orders::IsClosed(order->status);
  if (!orders::IsClosed(order->status) && !is_early) {
    switch (event.news) {
      case News::kPlaced:
      case News::kOther:
        break;
      case News::kConfirmed:
      case News::kInPreparation:
        change.Advance(orders::Status::kPreparing);
        break;
      case News::kReady:
        change.Advance(orders::Status::kReady);
        break;
      case News::kOnTheWay:
        change.Deliver(orders::DeliveryStatus::kOnTheWay, *order);
        break;
      case News::kDelivered:
        change.Deliver(orders::DeliveryStatus::kDelivered, *order);
        break;
      case News::kConcluded:
        change.Advance(orders::Status::kFinalized);
        break;
      case News::kCancelled:
        change.Cancel(*order, CancelReason(event));
        break;
    }
  }
  store::PutOrder(tx, key, *row);
  return !is_early;
}

void NoteConfirmed(db::Tx& tx, const AccountKey& key, std::string_view external_id,
                   bool is_told_by_events, const db::Stamp& stamp) {
  auto row = store::FindOrder(tx, key, external_id);
  if (!row || row->order_id.empty()) return;
  row->is_accepted = true;
  store::PutOrder(tx, key, *row);
  if (is_told_by_events) return;
  const auto order = orders::Load(tx, key.company, row->order_id);
  if (!order || orders::IsClosed(order->status)) return;
  const bool is_for_later = row->prepare_at && stamp.now < *row->prepare_at;
  if (!is_for_later) return Change(tx, key, *row, stamp).Advance(orders::Status::kPreparing);
  // Like what an app tells itself, it waits until the preparation begins.
  store::AddEvent(tx, key,
                  {.id = Concat({"confirmed here ", external_id}),
                   .external_id = std::string(external_id),
                   .news = News::kConfirmed,
                   .at = stamp.now,
                   .raw = "{}"},
                  stamp.now);
}

void NoteHandedOver(db::Tx& tx, const AccountKey& key, std::string_view external_id,
                    const db::Stamp& stamp) {
  auto row = store::FindOrder(tx, key, external_id);
  if (!row || row->pending == 0) return;
  const Minor pending = std::exchange(row->pending, 0);
  Change(tx, key, *row, stamp).PayAtTheDoor(pending, NewId(stamp.now));
  store::PutOrder(tx, key, *row);
}

}  // namespace comanda::delivery
