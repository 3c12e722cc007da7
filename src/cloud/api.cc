#include "cloud/api.h"

#include <array>
#include <string>

#include "base/concat.h"
#include "base/problem.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/key_file.h"
#include "cloud/link/linking.h"
#include "cloud/orders/pending.h"
#include "cloud/restaurant/restaurant.h"
#include "cloud/status.h"
#include "cloud/syncer.h"
#include "http/context.h"
#include "json/writer.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

constexpr int64_t kListedMax = 1'000;

// Null in the sandbox, and on the command line without a server.
Syncer* FindSyncer(http::Context& ctx) { return static_cast<Syncer*>(ctx.site().syncer); }

Syncer& SyncerOf(http::Context& ctx) {
  Syncer* const syncer = FindSyncer(ctx);
  if (syncer == nullptr) {
    throw Refusal(Problem::kServiceUnavailable, "The server does not run: start it first.");
  }
  return *syncer;
}

Linked GetLinked(db::Session& session) {
  auto linked = FindLinked(session);
  if (!linked) {
    throw Refusal(Problem::kNotFound,
                  "No restaurant of this box is linked: see `comanda cloud link --help`.");
  }
  return *std::move(linked);
}

// The worker reads the link again once the change is committed.
void TellOnCommit(http::Context& ctx, db::Tx& tx) {
  Syncer* const syncer = FindSyncer(ctx);
  if (syncer != nullptr) tx.OnCommit([syncer] { syncer->NoteChange(); });
}

http::Response StatusNow(http::Context& ctx) {
  Syncer* const syncer = FindSyncer(ctx);
  const Progressing progress =
      syncer ? syncer->progress()
             : Progressing{.state = State::kStopped, .reason = "the server does not run"};
  const UtcMs now = ctx.site().clock.Now();
  const Status status =
      ctx.Read([&](db::Snapshot& snapshot) { return FindStatus(snapshot, progress, now); });
  return http::Uncached(http::Data(ToJson(status, now)));
}

http::Response ShowStatus(http::Context& ctx) {
  ctx.query().AllowOnly({});
  return StatusNow(ctx);
}

LinkOrder ReadLinkOrder(http::Context& ctx) {
  json::Errors errors;
  json::ObjectReader reader(ctx.body().root(), "", errors, json::UnknownFields::kRefused);
  constexpr json::TextRule kText = {.max = 2'048, .card_numbers_refused = false};
  LinkOrder order;
  order.url = reader.RequireText("url", kText).value_or("");
  order.key = reader.RequireText("key", kText).value_or("");
  order.ca_file = reader.Text("ca_file", kText).value_or("");
  order.company_uuid = reader.Text("company", kText);
  order.since = reader.Text("since", kText);
  order.timezone = reader.Text("timezone", kText);
  order.country_code = reader.Text("country_code", kText);
  if (!order.url.empty() && !order.url.starts_with("https://")) {
    reader.Fail("url", FieldCode::kInvalidFormat,
                "must be the https address of the cloud without /v1, like https://api.example");
  }
  reader.Finish();
  errors.ThrowIfAny();
  while (order.url.ends_with('/')) order.url.pop_back();
  if (order.url.ends_with("/v1")) order.url.resize(order.url.size() - 3);
  return order;
}

http::Response MakeTheLink(http::Context& ctx) {
  ctx.query().AllowOnly({});
  Syncer& syncer = SyncerOf(ctx);
  const LinkOrder order = ReadLinkOrder(ctx);
  const LinkResult result = syncer.Link(order);
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  out.Key("cloud_company_id").Text(result.link.cloud_company_id);
  out.Key("was_created").Boolean(result.was_created);
  out.Key("goes_on").Boolean(result.goes_on);
  out.Key("follows_events").Boolean(result.link.features.has_events);
  out.Key("takes_dates").Boolean(result.link.features.takes_dates);
  out.EndObject();
  return http::Uncached(http::Data(body));
}

http::Response EndLink(http::Context& ctx) {
  ctx.query().AllowOnly({});
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp&) {
    Unlink(tx, GetLinked(tx).company);
    TellOnCommit(ctx, tx);
    return http::Uncached(http::Data("{}"));
  });
  RemoveKey(ctx.site().options.data_directory);
  return response;
}

http::Response SetPaused(http::Context& ctx, bool is_paused) {
  ctx.query().AllowOnly({});
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Linked linked = GetLinked(tx);
    const UtcMs since = linked.link.paused_at.value_or(stamp.now);
    PutPaused(tx, linked.company, is_paused ? std::optional(since) : std::nullopt);
    if (!is_paused) MakeDue(tx, linked.company);
    Syncer* const syncer = FindSyncer(ctx);
    if (syncer != nullptr) {
      tx.OnCommit([=] { is_paused ? syncer->NoteChange() : syncer->ReadAgain(); });
    }
    const std::string held = syncer ? syncer->WhyHeld() : "";
    std::string body;
    json::Writer out(body);
    out.BeginObject();
    out.Key("held").Text(held.empty() ? std::nullopt : std::optional(held));
    out.EndObject();
    return http::Uncached(http::Data(body));
  });
}

http::Response Pause(http::Context& ctx) { return SetPaused(ctx, true); }
http::Response Resume(http::Context& ctx) { return SetPaused(ctx, false); }

std::string PublicIdOf(db::Session& session, db::CompanyId company, const std::string& order_id) {
  const auto order = orders::Load(session, company, order_id);
  return order ? order->public_id : "";
}

http::Response ShowParked(http::Context& ctx) {
  ctx.query().AllowOnly({});
  std::string body = ctx.Read([&](db::Snapshot& snapshot) {
    const Linked linked = GetLinked(snapshot);
    std::string text;
    json::Writer out(text);
    out.BeginArray();
    for (const Parked& parked : store::ListParked(snapshot, linked.company, kListedMax)) {
      out.BeginObject();
      out.Key("order_id").Text(parked.order_id);
      out.Key("public_id").Text(PublicIdOf(snapshot, linked.company, parked.order_id));
      out.Key("why").Text(parked.why);
      out.Key("problem").Stored(parked.problem);
      out.EndObject();
    }
    out.EndArray();
    return text;
  });
  return http::Uncached(http::Data(body));
}

http::Response ShowDifferences(http::Context& ctx) {
  ctx.query().AllowOnly({});
  std::string body = ctx.Read([&](db::Snapshot& snapshot) {
    std::string text;
    json::Writer out(text);
    out.BeginArray();
    for (const Difference& difference :
         store::ListDifferences(snapshot, GetLinked(snapshot).company, kListedMax)) {
      out.BeginObject();
      out.Key("order_id")
          .Text(difference.order_id.empty() ? std::nullopt : std::optional(difference.order_id));
      out.Key("kind").Text(Name(difference.kind));
      out.Key("box").Text(difference.box);
      out.Key("cloud").Text(difference.cloud);
      out.Key("detail").Text(difference.detail);
      out.Key("at").Instant(difference.at);
      out.EndObject();
    }
    out.EndArray();
    return text;
  });
  return http::Uncached(http::Data(body));
}

http::Response ShowUnpaired(http::Context& ctx) {
  ctx.query().AllowOnly({});
  std::string body = ctx.Read([&](db::Snapshot& snapshot) {
    std::string text;
    json::Writer out(text);
    out.BeginArray();
    for (const auto& [kind, name] :
         ListUnpaired(snapshot, GetLinked(snapshot).company, static_cast<int>(kListedMax))) {
      out.BeginObject().Key("kind").Text(kind).Key("name").Text(name).EndObject();
    }
    out.EndArray();
    return text;
  });
  return http::Uncached(http::Data(body));
}

// The UUID of the order that the body names by either id of either side.
std::string OrderOf(db::Session& session, db::CompanyId company, const std::string& text) {
  const auto key = orders::NormalisedKey(text);
  auto id = key ? orders::FindUuid(session, company, *key) : std::nullopt;
  if (!id) throw Refusal(Problem::kNotFound, "there is no order " + text);
  return *std::move(id);
}

Refusal NotParked(const std::string& order) {
  return Refusal(Problem::kNotFound,
                 Concat({"Order ", order,
                         " is neither parked nor late: see `comanda cloud parked` and `comanda "
                         "cloud status`."}));
}

bool IsLate(http::Context& ctx, std::string_view order_id) {
  const Syncer* const syncer = FindSyncer(ctx);
  return syncer && syncer->late().Contains(order_id);
}

constexpr json::TextRule kIdText = {.max = 100, .card_numbers_refused = false};

http::Response Retry(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader(ctx.body().root(), "", errors, json::UnknownFields::kRefused);
  const std::string order = reader.RequireText("order", kIdText).value_or("");
  reader.Finish();
  errors.ThrowIfAny();
  return ctx.Write([&](db::Tx& tx, const db::Stamp&) {
    const db::CompanyId company = GetLinked(tx).company;
    int64_t count = 1;
    if (order == "all") {
      count = store::UnparkAll(tx, company);
    } else {
      const std::string id = OrderOf(tx, company, order);
      if (store::WhyParked(tx, company, id) == kCancelledButPaid) {
        throw Refusal(
            Problem::kOrderHasActivePayments,
            "The cloud has cancelled this order, and it is paid here: cancel its payments "
            "at a till, and it is cancelled here, too.");
      }
      if (!store::Unpark(tx, company, id) && !IsLate(ctx, id)) throw NotParked(order);
    }
    TellOnCommit(ctx, tx);  // late ones become due, too
    return http::Uncached(http::Data(Concat({"{\"orders\":", count, "}"})));
  });
}

http::Response DiscardOrder(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader(ctx.body().root(), "", errors, json::UnknownFields::kRefused);
  const std::string order = reader.RequireText("order", kIdText).value_or("");
  const std::string reason = reader.RequireText("reason", {.max = 500}).value_or("");
  reader.Finish();
  errors.ThrowIfAny();
  return ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Linked linked = GetLinked(tx);
    const db::CompanyId company = linked.company;
    const SendRules rules = RulesOf(ctx.site().options.cloud_rider_provider, linked.link);
    const std::string id = OrderOf(tx, company, order);
    if (IsLate(ctx, id)) store::Park(tx, company, id, kParkedUnanswered, "");
    if (!Discard(tx, company, id, reason, rules, stamp)) throw NotParked(order);
    Syncer* const syncer = FindSyncer(ctx);
    if (syncer) tx.OnCommit([syncer, id] { syncer->late().Remove(id); });
    TellOnCommit(ctx, tx);
    return http::Uncached(http::Data("{}"));
  });
}

// Of whichever restaurant is linked; also without a body.
constexpr http::Route RouteOf(http::Method method, std::string_view pattern,
                              http::Response (*handler)(http::Context&)) {
  http::Route route = http::Local(method, pattern, handler);
  route.body_optional = true;
  route.of_one_company = false;
  return route;
}

using http::Method;
constexpr std::array kRoutes = {
    RouteOf(Method::kGet, "/control/cloud", ShowStatus),
    RouteOf(Method::kPost, "/control/cloud/link", MakeTheLink),
    RouteOf(Method::kPost, "/control/cloud/unlink", EndLink),
    RouteOf(Method::kPost, "/control/cloud/pause", Pause),
    RouteOf(Method::kPost, "/control/cloud/resume", Resume),
    RouteOf(Method::kGet, "/control/cloud/parked", ShowParked),
    RouteOf(Method::kGet, "/control/cloud/differences", ShowDifferences),
    RouteOf(Method::kGet, "/control/cloud/unpaired", ShowUnpaired),
    RouteOf(Method::kPost, "/control/cloud/retry", Retry),
    RouteOf(Method::kPost, "/control/cloud/discard", DiscardOrder),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::cloud
