#include "orders/api.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/problem.h"
#include "base/random.h"
#include "company/companies.h"
#include "events/cursor.h"
#include "events/types.h"
#include "http/context.h"
#include "http/list.h"
#include "orders/json.h"
#include "orders/list.h"
#include "orders/orders.h"

namespace comanda::orders {
namespace {

using auth::Scope;

constexpr size_t kOrdersCounter = static_cast<size_t>(events::Counter::kOrders);

// What handlers share

// Has the background check repair the stored record of this order (integrity/checker.h).
void NoteRemade(http::Site& site, db::CompanyId company, std::string_view id) {
  site.database.damaged_rows().NoteRecord({company, std::string(id)});
}

http::Response Answer(http::Site& site, db::CompanyId company, const Record& record,
                      int status = 200) {
  if (record.was_remade) NoteRemade(site, company, record.id);
  http::Response response = http::Data(record.json, status);
  response.etag = http::VersionTag(site, company, record.version, kRenderVersion);
  response.event_seq = record.event_seq;
  return response;
}

http::Response Answer(http::Context& ctx, const Record& record) {
  return Answer(ctx.site(), ctx.company(), record);
}

std::string KeyOf(const http::Context& ctx) {
  std::optional<std::string> key = NormalisedKey(ctx.parameter("id"));
  if (key) return *std::move(key);
  throw Invalid("id", FieldCode::kInvalidFormat,
                "must be the order's UUID or its public id, such as PE-7222853393");
}

RequestKey RequestKeyOf(const http::Context& ctx) {
  if (ctx.memory().key().empty()) return std::nullopt;
  return ctx.memory().key();
}

Target TargetOf(const http::Context& ctx) {
  ctx.query().AllowOnly({});
  return {.company = ctx.company(),
          .key = KeyOf(ctx),
          .actor = ctx.principal().actor,
          .request_key = RequestKeyOf(ctx),
          .company_uuid = ctx.principal().company_uuid,
          .occurred_at = ctx.OccurredAt(),
          .require_version = [&ctx](int64_t version) { ctx.RequireMatch(version); }};
}

Body BodyOf(const http::Context& ctx) { return {ctx.body(), ctx.unknown_fields()}; }

std::string FreshId(http::Context& ctx) { return NewId(ctx.site().clock.Now()); }

int MoneyDecimals(http::Context& ctx) {
  return company::GetCached(ctx.site().database, ctx.company())->currency_decimals;
}

// Reading

constexpr std::string_view kCursorHeader = "X-Event-Cursor";

// The cursor of the log and the entity tag of the list. They are read in this order and before the
// rows, so that the rows may be newer than the cursor, but not older: a client that follows the
// events from the cursor misses no change. Events of the menu change the cursor and not the tag.
struct Moment {
  events::Cursor cursor;
  std::string tag;
};
Moment Now(http::Context& ctx) {
  const db::ChangeCounters::Values values = ctx.site().database.counters().Of(ctx.company());
  return {{values.epoch, values.events}, ctx.ListTag(kOrdersCounter)};
}

http::Response Unchanged(Moment moment) {
  http::Response response = http::NotModified(std::move(moment.tag));
  response.headers.emplace_back(kCursorHeader, events::Encode(moment.cursor));
  return response;
}

// A shared page may have been rendered for an earlier request: its cursor is replaced by the
// current one.
void RenewCursor(const events::Cursor& now, http::Response& response) {
  for (auto& [name, value] : response.headers) {
    if (name != kCursorHeader) continue;
    const std::optional<events::Cursor> made = events::Decode(value);
    const bool is_older = made && made->epoch == now.epoch && made->seq < now.seq;
    if (is_older) value = events::Encode(now);
  }
}

http::Response List(http::Context& ctx) {
  RequireListParameters(ctx.query());
  Moment moment = Now(ctx);
  if (ctx.HasMatch(moment.tag)) {
    const bool waited = ctx.AwaitChange([&] { return ctx.ListTag(kOrdersCounter) != moment.tag; });
    if (waited) moment = Now(ctx);
    if (!waited || ctx.HasMatch(moment.tag)) return Unchanged(std::move(moment));
  }
  const std::string& tag = moment.tag;
  // Rendered once for all requests with the same tag: a change wakes many waiting displays at once.
  http::Response response = ctx.Shared(tag, [&] {
    return ctx.ReadPage([&](db::Snapshot& snapshot, http::PageRows& rows) {
      Page page = FindPage(snapshot, ctx.company(), ctx.query(), ctx.site().clock.Now(), rows);
      for (const std::string& id : page.remade) NoteRemade(ctx.site(), ctx.company(), id);
      http::Response made = http::ListResponse(page, rows, tag);
      http::NoteDamage(ctx.site(), page.damage, made);
      made.headers.emplace_back(kCursorHeader, std::move(page.cursor));
      return made;
    });
  });
  RenewCursor(moment.cursor, response);
  return response;
}

http::Response Get(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string key = KeyOf(ctx);
  // While no order changes, repeated requests are answered from memory.
  return ctx.Shared(ctx.ListTag(kOrdersCounter), [&] {
    const auto record =
        ctx.Read([&](db::Snapshot& snapshot) { return FindByKey(snapshot, ctx.company(), key); });
    if (!record) throw Refusal(Problem::kNotFound, "there is no order " + key);
    return Answer(ctx, *record);
  });
}

// Placing

http::Response AnswerTo(http::Site& site, db::CompanyId company, const Placed& placed) {
  const bool as_now = placed.answer == Placed::Answer::kAsItIsNow;
  http::Response response = Answer(site, company, placed.record, as_now ? 200 : 201);
  if (!as_now) response.location = "/v1/orders/" + placed.record.id;
  if (placed.answer != Placed::Answer::kCreated) http::idempotency::MarkReplayed(response);
  return response;
}

// A repeated creation is answered even if the request would be refused today, because its date has
// passed or the disk is full: the order's reference is its Idempotency-Key and is never deleted.
std::optional<http::Response> FindFirst(http::Site& site, db::Session& session,
                                        db::CompanyId company, std::string_view key,
                                        std::string_view fingerprint) {
  const std::optional<Placed> placed = FindPlaced(session, company, key, fingerprint);
  if (!placed) return std::nullopt;
  return AnswerTo(site, company, *placed);
}

http::Response Create(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::shared_ptr<const company::Company> company =
      company::GetCached(ctx.site().database, ctx.company());
  const std::optional<UtcMs> occurred_at = ctx.OccurredAt();
  const OrderDraft draft = ReadOrder(BodyOf(ctx), company->currency_decimals,
                                     occurred_at.value_or(ctx.site().clock.Now()));
  const Placement placement{.id = FreshId(ctx),
                            .public_numbers = PublicNumbers(),
                            .reference = ctx.memory().key(),
                            .fingerprint = ctx.memory().fingerprint(),
                            .actor = ctx.principal().actor,
                            .occurred_at = occurred_at};
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return AnswerTo(ctx.site(), ctx.company(), Place(tx, *company, draft, placement, stamp));
  });
}

// Editing

http::Response PatchFields(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const FieldsDraft fields = ReadFields(BodyOf(ctx), MoneyDecimals(ctx),
                                        target.occurred_at.value_or(ctx.site().clock.Now()));
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, EditFields(tx, target, fields, stamp));
  });
}

http::Response PostCombos(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  std::vector<Combo> combos = ReadCombos(BodyOf(ctx), MoneyDecimals(ctx));
  for (Combo& combo : combos) {
    combo.id = FreshId(ctx);
    for (Modifier& modifier : combo.modifiers) modifier.id = FreshId(ctx);
  }
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, AddCombos(tx, target, combos, stamp));
  });
}

http::Response DeleteCombo(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const std::string combo_id = ctx.UuidParameter("comboId");
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, CancelCombo(tx, target, combo_id, stamp));
  });
}

http::Response PostPayment(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  PaymentDraft draft = ReadPayment(BodyOf(ctx), MoneyDecimals(ctx));
  draft.payment.id = FreshId(ctx);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, Pay(tx, target, draft, stamp));
  });
}

http::Response DeletePayment(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const std::string payment_id = ctx.UuidParameter("paymentId");
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, CancelPayment(tx, target, payment_id, stamp));
  });
}

http::Response PostDiscount(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  Discount discount = ReadDiscount(BodyOf(ctx), MoneyDecimals(ctx));
  discount.id = FreshId(ctx);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, AddDiscount(tx, target, discount, stamp));
  });
}

http::Response DeleteDiscount(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const std::string discount_id = ctx.UuidParameter("discountId");
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, RemoveDiscount(tx, target, discount_id, stamp));
  });
}

// Status and cancel

http::Response PatchStatus(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const Status status = ReadStatus(BodyOf(ctx));
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, Advance(tx, target, status, stamp));
  });
}

http::Response PostCancel(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const std::string reason = ReadCancelReason(BodyOf(ctx));
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, Cancel(tx, target, reason, stamp));
  });
}

// Logistics

http::Response PutRider(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const RiderDraft draft = ReadRider(BodyOf(ctx), ctx.site().options.platform_name);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, AssignRider(tx, target, draft, stamp));
  });
}

http::Response DeleteRider(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, UnassignRider(tx, target, stamp));
  });
}

http::Response PatchDeliveryStatus(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const DeliveryReport report = ReadDeliveryReport(BodyOf(ctx));
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Answer(ctx, ReportDelivery(tx, target, report, stamp));
  });
}

// Clients that know other services' APIs (contract section 18)

std::string_view LastSegment(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Verbs that other services have behind an order.
bool IsVerb(std::string_view segment) {
  constexpr std::array<std::string_view, 14> kVerbs = {
      "accept", "reject",   "confirm",  "prepare", "preparing", "ready", "deliver",
      "deny",   "dispatch", "finalize", "finish",  "complete",  "close", "readyToPickup"};
  return std::ranges::find(kVerbs, segment) != kVerbs.end();
}

std::string_view HintFor(const http::Mistake& mistake) {
  if (!mistake.path.starts_with("/v1/orders/")) return "";
  const std::string_view last = LastSegment(mistake.path);
  if (!mistake.path_exists && IsVerb(last)) {
    return " The status of an order is changed with PATCH /v1/orders/{id}/status and the body "
           "{\"status\": \"PREPARING\"}; an order is cancelled with POST /v1/orders/{id}/cancel.";
  }
  if (mistake.path_exists && last == "status") {
    return " Change the status with PATCH and the body {\"status\": \"PREPARING\"}.";
  }
  if (mistake.path_exists && mistake.method == http::Method::kDelete) {
    return " An order is cancelled with POST /v1/orders/{id}/cancel.";
  }
  return "";
}

bool IsPublicId(std::string_view text) { return !ParseId(text) && NormalisedKey(text); }

constexpr http::PublicIds kPublicIds = {.is_one = IsPublicId, .find_uuid = FindUuid};

constexpr http::Route CreateRoute() {
  http::Route route = http::Post("/v1/orders", Scope::kOrdersWrite, Create);
  route.replay = http::Replay::kRequired;
  route.find_first = FindFirst;
  return route;
}

constexpr std::array kRows = {
    http::ShowingOrders(http::Get("/v1/orders", Scope::kOrdersRead, List)),
    http::ShowingOrders(http::Get("/v1/orders/{id}", Scope::kOrdersRead, Get)),
    CreateRoute(),
    http::Patch("/v1/orders/{id}", Scope::kOrdersWrite, PatchFields),
    http::Patch("/v1/orders/{id}/status", Scope::kOrdersWrite, PatchStatus),
    http::Post("/v1/orders/{id}/cancel", Scope::kOrdersWrite, PostCancel),
    http::Post("/v1/orders/{id}/combos", Scope::kOrdersWrite, PostCombos),
    http::Delete("/v1/orders/{id}/combos/{comboId}", Scope::kOrdersWrite, DeleteCombo),
    http::Post("/v1/orders/{id}/payments", Scope::kOrdersWrite, PostPayment),
    http::Delete("/v1/orders/{id}/payments/{paymentId}", Scope::kOrdersWrite, DeletePayment),
    http::Post("/v1/orders/{id}/discounts", Scope::kOrdersWrite, PostDiscount),
    http::Delete("/v1/orders/{id}/discounts/{discountId}", Scope::kOrdersWrite, DeleteDiscount),
    http::Put("/v1/orders/{id}/rider", Scope::kLogisticsWrite, PutRider),
    http::Delete("/v1/orders/{id}/rider", Scope::kLogisticsWrite, DeleteRider),
    http::Patch("/v1/orders/{id}/delivery-status", Scope::kLogisticsWrite, PatchDeliveryStatus),
};

// Orders are accepted until the disk is full: other writes are refused earlier
// (db/disk_space.h).
constexpr auto kRoutes = http::With(
    http::Space::kNone,
    http::With(db::Readers::kOrders, http::With(kPublicIds, http::With(HintFor, kRows))));

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::orders
