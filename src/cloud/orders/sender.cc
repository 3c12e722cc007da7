#include "cloud/orders/sender.h"

#include <algorithm>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/log.h"
#include "cloud/orders/cloud_record.h"
#include "cloud/orders/journal_store.h"
#include "cloud/menu/menu_push.h"
#include "cloud/link/path.h"
#include "cloud/orders/refusal.h"
#include "cloud/orders/record_merge.h"
#include "cloud/orders/went_back.h"
#include "company/companies.h"
#include "crypto/derived_id.h"
#include "events/log.h"
#include "orders/orders.h"
#include "wire/percent.h"

namespace comanda::cloud {
namespace {

// An older date would be refused (contract section 15.6: at most 45 days back).
constexpr int64_t kDateMsMax = 44LL * 24 * 60 * 60 * 1000;
constexpr int kNotFound = 404;
constexpr size_t kTagBytesMax = 200;

struct Endpoint {
  std::string_view method;
  // Below the order's path, for steps of the menu the whole; $: the cloud's id of the row.
  std::string_view path;
};

Endpoint EndpointOf(StepKind kind) {
  switch (kind) {
    case StepKind::kPlace:
      return {"POST", ""};
    case StepKind::kFields:
      return {"PATCH", ""};
    case StepKind::kCombos:
      return {"POST", "/combos"};
    case StepKind::kDiscount:
      return {"POST", "/discounts"};
    case StepKind::kPayment:
      return {"POST", "/payments"};
    case StepKind::kCancelCombo:
      return {"DELETE", "/combos/$"};
    case StepKind::kRemoveDiscount:
      return {"DELETE", "/discounts/$"};
    case StepKind::kCancelPayment:
      return {"DELETE", "/payments/$"};
    case StepKind::kStatus:
      return {"PATCH", "/status"};
    case StepKind::kRider:
      return {"PUT", "/rider"};
    case StepKind::kNoRider:
      return {"DELETE", "/rider"};
    case StepKind::kDelivery:
      return {"PATCH", "/delivery-status"};
    case StepKind::kCancel:
      return {"POST", "/cancel"};
    case StepKind::kMenu:
      return {"PUT", "/v1/menu/products"};
    case StepKind::kMenuClear:
      return {"PATCH", "/v1/menu/products/$"};
    case StepKind::kRead:
      return {"GET", ""};
  }
  return {};
}

// What a cloud that has lost rows of the order must not do.
bool Closes(const Step& step) {
  if (step.kind == StepKind::kCancel) return true;
  return step.kind == StepKind::kStatus &&
         step.body.find(Name(orders::Status::kFinalized)) != std::string::npos;
}

}  // namespace

Sender::Sender(SenderSettings settings, db::CompanyId company)
    : settings_(std::move(settings)), company_(company) {}

bool Sender::Send(const Waiting& waiting) {
  return waiting.order_id.empty() ? SendMenuStep(waiting) : SendOrderStep(waiting);
}

bool Sender::SendMenuStep(const Waiting& waiting) {
  const Step& step = waiting.step;
  // A step that is repeated would find what its first attempt has written.
  const auto look = settings_.database.Read([&](db::Snapshot& snapshot) {
    const bool looks = waiting.attempts == 0 && step.kind == StepKind::kMenu;
    return looks ? LookBeforePush(snapshot, company_, step) : std::nullopt;
  });
  if (look) {
    const Reply there = settings_.ask(*look);
    if (there.verdict == Verdict::kLater) return false;
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      if (there.verdict == Verdict::kOk) {
        NoteBeforePush(tx, company_, step, there.answer.answer().body, stamp);
      }
      store::CountAttempt(tx, company_, waiting, stamp.now);
    });
  }
  const Endpoint endpoint = EndpointOf(step.kind);
  std::string path(endpoint.path);
  if (path.ends_with('$')) {
    path.pop_back();
    const auto alias = settings_.database.Read([&](db::Snapshot& snapshot) {
      return aliases::FindByBoxId(snapshot, company_, aliases::Kind::kProduct,
                                  step.row_ids.front());
    });
    path += wire::PercentEncoded(alias ? alias->cloud_id : step.row_ids.front());
  }
  const Reply reply = settings_.ask({.method = std::string(endpoint.method),
                                     .path = std::move(path),
                                     .body = step.body,
                                     .idempotency_key = step.key});
  if (reply.verdict == Verdict::kLater) return false;
  const std::string& answer = reply.answer.answer().body;
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (reply.verdict == Verdict::kOk) {
      TakePushed(tx, company_, step, answer, stamp);
    } else {
      DropPush(tx, company_, step, answer, stamp);
    }
    RemovePush(tx, company_, waiting);
  });
  return true;
}

bool Sender::SendOrderStep(const Waiting& waiting) {
  if (waiting.step.kind == StepKind::kRead) return ReadFirst(waiting.order_id);
  const std::optional<Request> request = RequestFor(waiting);
  if (!request) return LearnRow(waiting);
  const Reply reply = settings_.ask(*request);
  if (reply.verdict == Verdict::kLater) return false;
  if (reply.verdict == Verdict::kRefused) return Follow(waiting, reply);
  if (const auto record = reply.answer.Find("data")) {
    Accept(waiting, *record, reply.answer.HeaderOr("ETag", ""));
  }
  return true;
}

std::optional<Request> Sender::RequestFor(const Waiting& waiting) {
  const Step& step = waiting.step;
  const Endpoint endpoint = EndpointOf(step.kind);
  Request request{.method = std::string(endpoint.method),
                  .path = "/v1/orders",
                  .body = step.body,
                  .idempotency_key = step.key};
  const UtcMs now = settings_.clock.Now();
  if (now - step.occurred_at < kDateMsMax) {
    request.occurred_at = FormatInstant(std::min(step.occurred_at, now));
  }
  if (step.kind == StepKind::kPlace) return request;

  return settings_.database.Read([&](db::Snapshot& snapshot) -> std::optional<Request> {
    const auto alias = AliasOf(snapshot, waiting.order_id);
    if (!alias) return std::nullopt;
    request.path = OrderPath(alias->cloud_id);
    std::string_view rest = endpoint.path;
    const auto row = store::FindOrder(snapshot, company_, waiting.order_id);
    if (row && Closes(step)) request.if_match = row->mirror.shown.etag;
    const size_t at = rest.find('$');
    request.path += rest.substr(0, at);
    if (at == rest.npos) return request;
    const Rows* rows = row ? RowsOf(row->mirror, step.kind) : nullptr;
    const auto found = rows ? rows->find(step.row_ids.at(0)) : Rows::const_iterator();
    if (!rows || found == rows->end() || found->second.cloud_id.empty()) return std::nullopt;
    request.path += wire::PercentEncoded(found->second.cloud_id);
    return request;
  });
}

std::optional<aliases::Alias> Sender::AliasOf(db::Session& session,
                                              std::string_view order_id) const {
  return aliases::FindByBoxId(session, company_, aliases::Kind::kOrder, order_id);
}

void Sender::PutAlias(db::Tx& tx, const std::string& order_id, json::Value record) const {
  const std::string public_id = net::TextAt(record, "public_id");
  aliases::Put(tx, company_,
               {.kind = aliases::Kind::kOrder,
                .cloud_id = CloudIdOf(record),
                .box_id = order_id,
                .cloud_public_id = public_id.empty() ? std::nullopt : std::optional(public_id)});
}

void Sender::Accept(const Waiting& waiting, json::Value record, const std::string& etag) {
  const bool is_strong = etag.starts_with('"') && etag.size() <= kTagBytesMax;
  const std::vector<std::string> numbers = orders::PublicNumbers();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    if (waiting.step.kind == StepKind::kPlace) {
      PutAlias(tx, waiting.order_id, record);
      NoteReference(tx, waiting, net::TextAt(record, "reference"), stamp);
    }
    store::DeleteStep(tx, company_, waiting);
    Take(tx, record, numbers, stamp,
         {.answered = &waiting.step, .etag = is_strong ? etag : std::string_view()});
  });
}

// Another reference than the one that was sent: a till that repeats itself there is not recognised.
void Sender::NoteReference(db::Tx& tx, const Waiting& waiting, const std::string& reference,
                           const db::Stamp& stamp) {
  if (reference.empty() || reference == waiting.step.key) return;
  store::InsertDifference(tx, company_,
                          {.order_id = waiting.order_id,
                           .kind = DifferenceKind::kReference,
                           .box = waiting.step.key,
                           .cloud = reference,
                           .detail = "the cloud keeps another reference"},
                          stamp.now);
}

void Sender::Take(db::Tx& tx, json::Value record, const std::vector<std::string>& numbers,
                  const db::Stamp& stamp, const Role& role) {
  const company::Company company = company::Get(tx, company_);
  MergeRecord(tx,
              {.company = company,
               .public_numbers = numbers,
               .rules = settings_.rules,
               .platform_name = settings_.platform_name,
               .answered = role.answered,
               .looked_for = role.looked_for,
               .etag = role.etag},
              record, stamp);
}

// An order of which the mirror may be wrong, before anything of it is sent: after a restore, or
// because the cloud went back. Where its record says nothing that can be taken, the order goes on
// with what the mirror knows.
bool Sender::ReadFirst(const std::string& order_id) {
  Reply reply;
  const Looked looked = Look(order_id, reply);
  if (looked == Looked::kNoAnswer) return false;
  const auto record = reply.answer.Find("data");
  const std::vector<std::string> numbers = orders::PublicNumbers();
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const bool is_gone = looked == Looked::kAnswered && !record;
    if (is_gone && reply.answer.status() == kNotFound &&
        PlaceAgain(tx, company_, order_id, settings_.rules, stamp)) {
      return;
    }
    if (is_gone) {
      store::Park(tx, company_, order_id, kParkedGone, reply.answer.answer().body);
      return;
    }
    if (record) Take(tx, *record, numbers, stamp, {.looked_for = true});
    auto row = store::FindOrder(tx, company_, order_id);
    const auto order = orders::Load(tx, company_, order_id);
    if (!row || !order) return;
    if (!IsReadFirst(tx, *order, row->mirror, settings_.rules)) return;
    if (IsBehind(tx, *order, row->mirror, settings_.rules)) {
      row->mirror.epoch = events::ExtentOf(tx, company_).epoch;
    }
    row->mirror.is_to_read = false;
    row->mirror.compared_for = settings_.rules.went_back_at.value_or(row->mirror.compared_for);
    CompareAgain(tx, *order, *std::move(row), settings_.rules, Makes::kNext, stamp);
  });
  return true;
}

}  // namespace comanda::cloud
