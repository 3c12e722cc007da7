#include "orders/api.h"

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

// -- what handlers share --------------------------------------------------------------------------

http::Response Answer(const http::Context& ctx, const Record& record, int status = 200) {
  http::Response response = http::Data(record.json, status);
  response.etag = ctx.VersionTag(record.version, kRenderVersion);
  return response;
}

std::string KeyOf(const http::Context& ctx) {
  std::optional<std::string> key = NormalisedKey(ctx.parameter("id"));
  if (key) return *std::move(key);
  throw Invalid("id", FieldCode::kInvalidFormat,
                "must be the order's UUID or its public id, such as PE-7222853393");
}

Target TargetOf(const http::Context& ctx) {
  ctx.query().AllowOnly({});
  return {.company = ctx.company(),
          .key = KeyOf(ctx),
          .actor = ctx.principal().actor,
          .require_version = [&ctx](int64_t version) { ctx.RequireMatch(version); }};
}

Body BodyOf(const http::Context& ctx) { return {ctx.body(), ctx.unknown_fields()}; }

std::string FreshId(http::Context& ctx) { return NewId(ctx.site().clock.Now()); }

int MoneyDecimals(http::Context& ctx) {
  return company::Known(ctx.site().database, ctx.company())->currency_decimals;
}

// -- reading --------------------------------------------------------------------------------------

http::Response List(http::Context& ctx) {
  RequireListParameters(ctx.query());
  // Before the rows: they may then be newer than the tag, never older.
  std::string tag = ctx.ListTag(kOrdersCounter);
  if (ctx.HasMatch(tag)) {
    const bool waited = ctx.AwaitChange([&] { return ctx.ListTag(kOrdersCounter) != tag; });
    if (waited) tag = ctx.ListTag(kOrdersCounter);
    if (!waited || ctx.HasMatch(tag)) return http::NotModified(std::move(tag));
  }
  // Thirty displays that were waiting for the same order get one page, rendered once.
  return ctx.Shared(tag, [&] {
    http::PieceStore* const pieces = ctx.PrefersGzip() ? &ctx.site().pieces : nullptr;
    Page page = ctx.Read([&](db::Snapshot& snapshot) {
      return FindPage(snapshot, ctx.company(), ctx.query(), pieces);
    });
    http::Response response = http::ListResponse(page, tag);
    response.headers.emplace_back("X-Event-Cursor", std::move(page.cursor));
    return response;
  });
}

http::Response Get(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string key = KeyOf(ctx);
  // A till that asks again while no order has changed is answered without the database.
  return ctx.Shared(ctx.ListTag(kOrdersCounter), [&] {
    const auto record = ctx.Read([&](db::Snapshot& snapshot) -> std::optional<Record> {
      const std::optional<std::string> id = FindUuid(snapshot, ctx.company(), key);
      return id ? Find(snapshot, ctx.company(), *id) : std::nullopt;
    });
    if (!record) throw Refusal(Problem::kNotFound, "there is no order " + key);
    return Answer(ctx, *record);
  });
}

// -- placing --------------------------------------------------------------------------------------

// Ten digits, the first not 0; the chance that all of them are taken is none.
std::vector<std::string> PublicNumbers() {
  constexpr size_t kCandidates = 4;
  std::vector<std::string> numbers(kCandidates);
  for (std::string& number : numbers) {
    number = std::to_string(1'000'000'000 + RandomBelow(9'000'000'000));
  }
  return numbers;
}

http::Response Created(const http::Context& ctx, const Placed& placed) {
  http::Response response = Answer(ctx, placed.record, placed.replayed ? 200 : 201);
  if (placed.replayed) {
    response.headers.emplace_back("Idempotency-Replayed", "true");
  } else {
    response.location = "/v1/orders/" + placed.record.id;
  }
  return response;
}

// The key of an order is remembered for ever: what was right when it was placed (a date in the
// future) may be wrong today.
std::optional<http::Response> Repeated(http::Context& ctx) {
  if (std::optional<http::Response> first = ctx.FirstAnswer()) return first;
  std::optional<Record> earlier = ctx.Read([&](db::Snapshot& snapshot) {
    return FindPlaced(snapshot, ctx.company(), ctx.idempotency_key(), ctx.fingerprint());
  });
  if (!earlier) return std::nullopt;
  return Created(ctx, {*std::move(earlier), true});
}

http::Response Create(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::shared_ptr<const company::Company> company =
      company::Known(ctx.site().database, ctx.company());
  OrderDraft draft;
  try {
    draft = ReadOrder(BodyOf(ctx), company->currency_decimals, ctx.site().clock.SettledNow());
  } catch (const Refusal&) {
    if (std::optional<http::Response> first = Repeated(ctx)) return *std::move(first);
    throw;
  }
  const Placement placement{.id = FreshId(ctx),
                            .public_numbers = PublicNumbers(),
                            .reference = ctx.idempotency_key(),
                            .fingerprint = ctx.fingerprint(),
                            .actor = ctx.principal().actor};
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Created(ctx, Place(tx, *company, draft, placement, stamp));
  });
}

// -- editing --------------------------------------------------------------------------------------

http::Response PatchFields(http::Context& ctx) {
  const Target target = TargetOf(ctx);
  const FieldsDraft fields =
      ReadFields(BodyOf(ctx), MoneyDecimals(ctx), ctx.site().clock.SettledNow());
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

// -- status and cancel ----------------------------------------------------------------------------

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

// -- logistics ------------------------------------------------------------------------------------

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

constexpr http::Route kCreateRoute = {http::Method::kPost,
                                      "/v1/orders",
                                      http::Access::kKey,
                                      Scope::kOrdersWrite,
                                      http::Replay::kRequired,
                                      true,
                                      Create};

// Orders are written as long as anything is.
constexpr auto kRoutes = http::With(
    http::Space::kNone,
    std::array{
        http::Get("/v1/orders", Scope::kOrdersRead, List),
        http::Get("/v1/orders/{id}", Scope::kOrdersRead, Get),
        kCreateRoute,
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
    });

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::orders
