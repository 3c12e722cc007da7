// What follows from a refusal of the cloud (cloud/orders/refusal.h): the second part of Sender.

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/log.h"
#include "cloud/orders/cloud_record.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/path.h"
#include "cloud/orders/refusal.h"
#include "cloud/orders/sender.h"
#include "cloud/orders/record_merge.h"
#include "cloud/orders/went_back.h"
#include "company/companies.h"
#include "crypto/derived_id.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

constexpr int64_t kDayMs = 24LL * 60 * 60 * 1000;
// Behind the key of a step that is sent once more under another key, and how often.
constexpr std::string_view kRepeated = "-again";
constexpr int kRepeatedMax = 4;
constexpr std::string_view kScheduledDate = "scheduled_delivery_date";
// Of the search for an order that the cloud has under our key.
constexpr int kPagesMax = 50;
std::string DateOf(UtcMs at) { return FormatInstant(at).substr(0, 10); }

}  // namespace

bool Sender::Follow(const Waiting& waiting, const Reply& reply) {
  const std::string& problem = reply.answer.answer().body;
  const Judgement judgement = JudgeRefusal(waiting.step.kind, reply.answer.status(), problem);
  log::Warning(
      "the cloud refused the request for an order",
      {{"order", waiting.order_id}, {"step", Name(waiting.step.kind)}, {"why", reply.trouble}});
  switch (judgement.remedy) {
    case Remedy::kPark:
      return ParkAfterLook(waiting, problem);
    case Remedy::kGone:
      ParkGone(waiting, problem);
      return true;
    case Remedy::kFindOrder:
      return FindOrder(waiting, problem);
    case Remedy::kReadOrder:
      return ReadOrder(waiting, problem);
    case Remedy::kReadAgain:
      settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
        store::DeleteStep(tx, company_, waiting);
        ReadAgain(tx, company_, waiting.order_id, settings_.rules, stamp);
      });
      return true;
    case Remedy::kLeaveOut:
      LeaveOut(waiting, judgement.fields);
      return true;
    case Remedy::kDrop:
      Drop(waiting, reply.trouble);
      return true;
  }
  return true;
}

void Sender::ParkGone(const Waiting& waiting, std::string_view problem) {
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    store::Park(tx, company_, waiting.order_id, kParkedGone, problem);
  });
}

void Sender::ParkRefused(const Waiting& waiting, std::string_view problem) {
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { ParkRefused(tx, waiting, problem); });
}

Sender::Looked Sender::Look(const std::string& order_id, Reply& reply) {
  const auto alias =
      settings_.database.Read([&](db::Snapshot& snapshot) { return AliasOf(snapshot, order_id); });
  if (!alias) return Looked::kUnknown;
  reply = settings_.ask({.path = OrderPath(alias->cloud_id)});
  return reply.verdict == Verdict::kLater ? Looked::kNoAnswer : Looked::kAnswered;
}

// The cloud may have moved, closed or cancelled the order meanwhile, which explains the refusal:
// then the order is taken as it is in the cloud, and the order goes on without the request, if that
// is overtaken.
bool Sender::ParkAfterLook(const Waiting& waiting, std::string_view problem) {
  Reply reply;
  const Looked looked = Look(waiting.order_id, reply);
  if (looked == Looked::kNoAnswer) return false;
  if (looked == Looked::kUnknown) {
    ParkRefused(waiting, problem);
    return true;
  }
  const std::vector<std::string> numbers = orders::PublicNumbers();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const auto record = reply.answer.Find("data");
    if (record) Take(tx, *record, numbers, stamp, {});
    if (!IsStillWaiting(tx, waiting)) return;
    if (record && IsOvertaken(waiting.step, *record)) {
      const json::Document body = json::Document::ParseStored(waiting.step.body);
      store::InsertDifference(tx, company_,
                              {.order_id = waiting.order_id,
                               .kind = DifferenceKind::kStatus,
                               .box = net::TextAt(body.root(), "delivery_status"),
                               .cloud = net::TextAt(*record, "delivery_status"),
                               .detail = "the cloud was ahead of it"},
                              stamp.now);
      GoOnWithout(tx, waiting, stamp);
      return;
    }
    ParkRefused(tx, waiting, problem);
  });
  return true;
}

// The request has its answer. What is sent after `comanda cloud retry` is what differs then.
void Sender::ParkRefused(db::Tx& tx, const Waiting& waiting, std::string_view problem) {
  store::Park(tx, company_, waiting.order_id, kParkedRefused, problem);
  if (!waiting.step.is_in_mirror) store::DeleteStep(tx, company_, waiting);
}

bool Sender::IsStillWaiting(db::Session& session, const Waiting& waiting) const {
  return store::WhyParked(session, company_, waiting.order_id).empty() &&
         store::HasStep(session, company_, waiting);
}

void Sender::GoOnWithout(db::Tx& tx, const Waiting& waiting, const db::Stamp& stamp) {
  store::DeleteStep(tx, company_, waiting);
  auto row = store::FindOrder(tx, company_, waiting.order_id);
  const auto order = orders::Load(tx, company_, waiting.order_id);
  if (!row || !order) return;
  GiveUp(row->mirror, waiting.step);
  CompareAgain(tx, *order, *std::move(row), settings_.rules, Makes::kNext, stamp);
}

// A step that ends a row of which the cloud's id is not known: the order is read, and the row found
// by its content. What is not there cannot be ended in the cloud: a difference says so.
bool Sender::LearnRow(const Waiting& waiting) {
  Reply reply;
  if (Look(waiting.order_id, reply) == Looked::kNoAnswer) return false;
  const std::vector<std::string> numbers = orders::PublicNumbers();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (const auto record = reply.answer.Find("data")) Take(tx, *record, numbers, stamp, {});
    if (!IsStillWaiting(tx, waiting)) return;
    const auto row = store::FindOrder(tx, company_, waiting.order_id);
    const Rows* rows = row ? RowsOf(row->mirror, waiting.step.kind) : nullptr;
    const auto known = rows ? rows->find(waiting.step.row_ids.at(0)) : Rows::const_iterator();
    if (rows && known != rows->end() && !known->second.cloud_id.empty()) return;  // sent next
    store::InsertDifference(tx, company_,
                            {.order_id = waiting.order_id,
                             .kind = DifferenceKind::kRow,
                             .box = std::string(Name(waiting.step.kind)),
                             .cloud = "",
                             .detail = "not sent: the cloud shows no such row"},
                            stamp.now);
    GoOnWithout(tx, waiting, stamp);
  });
  return true;
}

// The key has placed an order in the cloud before, with another body. If it is this order, it is
// adopted; if it is another one, this order is placed under a key of its own.
bool Sender::FindOrder(const Waiting& waiting, std::string_view problem) {
  const UtcMs placed_at = waiting.step.occurred_at;
  for (int page = 1; page <= kPagesMax; ++page) {
    const Reply reply =
        settings_.ask({.path = Concat({"/v1/orders?filter[start_date]=", DateOf(placed_at - kDayMs),
                                       "&sort=created_at&per_page=100&page=", page})});
    if (reply.verdict == Verdict::kLater) return false;
    const auto record = reply.answer.Row("data", "reference", waiting.step.key);
    if (record) {
      TakeFound(waiting, *record);
      return true;
    }
    const auto has_more = reply.answer.Find("pagination.has_more");
    const bool goes_on = has_more && has_more->kind() == json::Kind::kBoolean &&
                         has_more->boolean() && !reply.answer.Items("data").empty();
    if (!goes_on) break;
  }
  ParkRefused(waiting, problem);
  return true;
}

void Sender::TakeFound(const Waiting& waiting, json::Value record) {
  const std::vector<std::string> numbers = orders::PublicNumbers();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (IsSameOrder(tx, waiting.order_id, record)) {
      PutAlias(tx, waiting.order_id, record);
      store::DeleteStep(tx, company_, waiting);
      Take(tx, record, numbers, stamp, {.answered = &waiting.step});
      return;
    }
    const std::string own_key = crypto::DerivedId(waiting.order_id, "reference in the cloud");
    if (waiting.step.key == own_key) {
      ParkRefused(tx, waiting, "");
      return;
    }
    store::InsertDifference(tx, company_,
                            {.order_id = waiting.order_id,
                             .kind = DifferenceKind::kReference,
                             .box = waiting.step.key,
                             .cloud = own_key,
                             .detail = "another order of the cloud has this reference"},
                            stamp.now);
    Step step = waiting.step;
    step.key = own_key;
    store::ReplaceStep(tx, company_, waiting, step);
  });
}

// Whether every row that the cloud's order has is one of the local order.
bool Sender::IsSameOrder(db::Tx& tx, const std::string& order_id, json::Value record) {
  const auto order = orders::Load(tx, company_, order_id);
  return order && MatchesWholly(tx, company::Get(tx, company_), *order, record);
}

// The cloud knows the key of this step with another body, or a row that it names no more. Rows that
// are in the cloud already are adopted. What is still missing is sent under another key, unless the
// key is that of a till, which may have sent the row itself.
bool Sender::ReadOrder(const Waiting& waiting, std::string_view problem) {
  Reply reply;
  const Looked looked = Look(waiting.order_id, reply);
  if (looked == Looked::kNoAnswer) return false;
  if (looked == Looked::kUnknown) {
    ParkRefused(waiting, problem);
    return true;
  }
  const auto record = reply.answer.Find("data");
  if (!record) {
    ParkGone(waiting, problem);
    return true;
  }
  const std::vector<std::string> numbers = orders::PublicNumbers();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    Take(tx, *record, numbers, stamp, {.looked_for = true});
    if (!IsStillWaiting(tx, waiting)) return;
    if (IsDone(tx, waiting, *record)) {
      store::DeleteStep(tx, company_, waiting);
      Take(tx, *record, numbers, stamp, {.answered = &waiting.step});
    } else {
      RepeatUnderOwnKey(tx, waiting, problem);
    }
  });
  return true;
}

// The key of a till may have been used by the till itself: what it sent is not repeated.
void Sender::RepeatUnderOwnKey(db::Tx& tx, const Waiting& waiting, std::string_view problem) {
  const std::string own_key = Concat({"c1-", waiting.order_id, "-"});
  Step step = waiting.step;
  int repeated = 0;
  for (std::string_view key = step.key; key.ends_with(kRepeated);) {
    key.remove_suffix(kRepeated.size());
    ++repeated;
  }
  if (!step.key.starts_with(own_key) || repeated >= kRepeatedMax) {
    ParkRefused(tx, waiting, problem);
    return;
  }
  step.key += kRepeated;
  store::ReplaceStep(tx, company_, waiting, step);
}

// Whether the cloud shows the effect of the step: its rows, or the comment that it appends; of a
// step that ends a row the key alone says so. Other steps may be repeated.
bool Sender::IsDone(db::Tx& tx, const Waiting& waiting, json::Value record) {
  if (waiting.step.kind == StepKind::kFields) {
    const json::Document body = json::Document::ParseStored(waiting.step.body);
    const std::string comment = net::TextAt(body.root(), "comment");
    return !comment.empty() && net::TextAt(record, "comment").ends_with(comment);
  }
  const auto row = store::FindOrder(tx, company_, waiting.order_id);
  const Rows* rows = row ? RowsOf(row->mirror, waiting.step.kind) : nullptr;
  if (!rows) return false;
  if (!AddsRows(waiting.step.kind)) return true;
  return std::ranges::all_of(waiting.step.row_ids, [&](const std::string& id) {
    const auto found = rows->find(id);
    return found != rows->end() && !found->second.cloud_id.empty();
  });
}

// A line without its link to the menu is named by its sku.
std::map<std::string, std::string> Sender::SkusOf(db::Session& session, const Waiting& waiting) {
  std::map<std::string, std::string> skus;
  const auto order = orders::Load(session, company_, waiting.order_id);
  if (!order || waiting.step.kind != StepKind::kCombos) return skus;
  for (size_t i = 0; i < waiting.step.row_ids.size(); ++i) {
    const auto combo =
        std::ranges::find(order->combos, waiting.step.row_ids[i], &orders::Combo::id);
    if (combo == order->combos.end() || !combo->sku) continue;
    skus.emplace(Concat({"combos[", static_cast<int64_t>(i), "].variant_id"}), *combo->sku);
  }
  return skus;
}

void Sender::LeaveOut(const Waiting& waiting, const std::vector<std::string>& fields) {
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const std::string& field : fields) {
      const bool is_date = field == kScheduledDate;
      store::InsertDifference(tx, company_,
                              {.order_id = waiting.order_id,
                               .kind = is_date ? DifferenceKind::kDate : DifferenceKind::kLink,
                               .box = "",
                               .cloud = "",
                               .detail = field},
                              stamp.now);
    }
    const bool has_date = std::ranges::find(fields, kScheduledDate) != fields.end();
    auto row = store::FindOrder(tx, company_, waiting.order_id);
    const auto order = orders::Load(tx, company_, waiting.order_id);
    if (has_date && row && order) {
      GiveUpDate(row->mirror, FieldsOf(*order));
      store::PutOrder(tx, company_, *row);
    }
    // The key stays: a request that was refused is not remembered under it.
    Step step = waiting.step;
    step.body = Without(step.body, fields, SkusOf(tx, waiting));
    if (step.body == "{}") {
      GoOnWithout(tx, waiting, stamp);
      return;
    }
    store::ReplaceStep(tx, company_, waiting, step);
  });
}

void Sender::Drop(const Waiting& waiting, const std::string& trouble) {
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    store::InsertDifference(tx, company_,
                            {.order_id = waiting.order_id,
                             .kind = DifferenceKind::kLink,
                             .box = std::string(Name(waiting.step.kind)),
                             .cloud = "",
                             .detail = trouble},
                            stamp.now);
    GoOnWithout(tx, waiting, stamp);
  });
}

}  // namespace comanda::cloud
