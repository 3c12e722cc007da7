#include "kitchen/api.h"

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
#include "company/companies.h"
#include "company/hours.h"
#include "events/cursor.h"
#include "events/types.h"
#include "http/context.h"
#include "http/list.h"
#include "json/writer.h"
#include "kitchen/answers.h"
#include "kitchen/changes.h"
#include "kitchen/json.h"
#include "kitchen/kitchen.h"
#include "kitchen/list.h"
#include "kitchen/presence.h"
#include "kitchen/store.h"
#include "kitchen/watch.h"
#include "menu/json.h"
#include "menu/menu.h"
#include "orders/orders.h"

namespace comanda::kitchen {
namespace {

using auth::Scope;

// The index of a parameter's value in its words; 0 where the query does not have it.
size_t ReadOne(const http::Query& query, std::string_view name,
               const std::array<std::string_view, 2>& words) {
  const std::vector<size_t> found = query.ReadWords(name, words);
  if (found.size() > 1) throw http::MalformedFilter(name, "takes one word.");
  return found.empty() ? 0 : found.front();
}

// The list of tickets

constexpr std::string_view kCursorHeader = "X-Event-Cursor";

// Time changes the list too: its tag says until when it is valid. Read before the rows.
struct Moment {
  events::Cursor cursor;
  std::string head;  // of the tag, up to the time
};

Moment Now(http::Context& ctx) {
  const db::ChangeCounters::Values values = ctx.site().database.counters().Of(ctx.company());
  std::string head = ctx.ListTag(static_cast<size_t>(events::Counter::kOrders));
  head.pop_back();  // the quote
  head += '.' + std::to_string(values.changes[static_cast<size_t>(events::Counter::kKitchen)]);
  return {{values.epoch, values.events}, head + '.'};
}

std::string TagOf(const Moment& moment, std::optional<UtcMs> until) {
  return moment.head + std::to_string(until.value_or(0)) + '"';
}

// The tag of If-None-Match, where the list is still the same.
std::optional<std::string> ValidTag(http::Context& ctx, const Moment& moment) {
  const std::string header = ctx.request().Joined("If-None-Match");
  const size_t begin = header.find(moment.head);
  if (begin == header.npos) return std::nullopt;
  const size_t end = header.find('"', begin + moment.head.size());
  if (end == header.npos) return std::nullopt;
  std::string tag = header.substr(begin, end + 1 - begin);
  int64_t until = 0;
  for (const char c :
       std::string_view(tag).substr(moment.head.size(), tag.size() - moment.head.size() - 1)) {
    if (c < '0' || c > '9' || until > INT64_MAX / 100) return std::nullopt;
    until = until * 10 + (c - '0');
  }
  const bool is_valid = until == 0 || ctx.site().clock.Now() < until;
  return is_valid && ctx.HasMatch(tag) ? std::optional(std::move(tag)) : std::nullopt;
}

http::Response GetTickets(http::Context& ctx) {
  RequireListParameters(ctx.query());
  const Moment moment = Now(ctx);
  if (std::optional<std::string> tag = ValidTag(ctx, moment)) {
    http::Response response = http::NotModified(*std::move(tag));
    response.headers.emplace_back(kCursorHeader, events::Encode(moment.cursor));
    return Versioned(std::move(response));
  }
  return Versioned(ctx.ReadPage([&](db::Snapshot& snapshot, http::PageRows& rows) {
    const Page page = FindPage(snapshot, ctx.company(), ctx.query(), ctx.site().clock.Now(), rows);
    http::Response response = ListResponse(page, rows, TagOf(moment, page.next_moment));
    response.headers.emplace_back(kCursorHeader, page.cursor);
    return response;
  }));
}

// Changes, and who watches

constexpr std::string_view kDisplay = "display";
constexpr std::string_view kStations = "stations";
constexpr std::string_view kSound = "sound";
constexpr std::string_view kAwake = "awake";

bool IsDisplayName(std::string_view text) {
  constexpr size_t kMax = 32;
  return text.size() <= kMax && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

std::vector<std::string> ReadStations(http::Context& ctx) {
  std::vector<std::string> ids =
      ReadIds(ctx.query(), kStations).value_or(std::vector<std::string>());
  if (ids.empty()) return ids;
  const auto known = WatchOf(ctx).StationsOf(ctx.company());
  for (const std::string& id : ids) {
    if (std::ranges::find(*known, id, &store::Station::id) != known->end()) continue;
    throw http::MalformedFilter(
        kStations, "names " + id + ", which is no station: GET /v1/kitchen/stations lists them.");
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// The poll of a display; null where the request names none: it counts for nobody.
std::unique_ptr<Presence::Poll> BeginPoll(http::Context& ctx) {
  const DisplayState state = {.stations = ReadStations(ctx),
                              .is_muted = ReadOne(ctx.query(), kSound, {"on", "muted"}) == 1,
                              .is_awake = ReadOne(ctx.query(), kAwake, {"yes", "no"}) == 0};
  const std::optional<std::string_view> display = ctx.query().Find(kDisplay);
  if (!display) return nullptr;
  if (!IsDisplayName(*display)) {
    throw http::MalformedFilter(kDisplay, "must be 1 to 32 letters and digits.");
  }
  const std::string& actor = ctx.principal().actor;
  auto poll = std::make_unique<Presence::Poll>(WatchOf(ctx).presence(), ctx.company(),
                                               actor.substr(actor.find(':') + 1),
                                               std::string(*display), state, ctx.principal().name);
  WatchOf(ctx).NoteDisplay();
  return poll;
}

// What tells that there may be news.
struct Seen {
  db::ChangeCounters::Values values;
  int64_t alerts = 0;

  int64_t Orders() const { return values.changes[static_cast<size_t>(events::Counter::kOrders)]; }
  // Marks, stations and settings: a page reads the last two again.
  int64_t Kitchen() const { return values.changes[static_cast<size_t>(events::Counter::kKitchen)]; }
  bool operator==(const Seen& other) const {
    return values.epoch == other.values.epoch && Orders() == other.Orders() &&
           Kitchen() == other.Kitchen() && alerts == other.alerts;
  }
};

Seen SeenNow(http::Context& ctx) {
  return {ctx.site().database.counters().Of(ctx.company()),
          WatchOf(ctx).AlertsOf(ctx.company())->revision};
}

// Made once for all displays that a commit wakes. Time changes states too: an answer is used for
// some seconds. One without tickets is never compressed here: its caller looks into it.
http::Response Changes(http::Context& ctx, std::string_view after, int64_t per_page,
                       const Seen& seen) {
  constexpr int64_t kUsedMs = 10'000;
  const auto alerts = WatchOf(ctx).AlertsOf(ctx.company());
  if (after == events::Encode({seen.values.epoch, seen.values.events})) {
    http::Response response;
    response.body = NoChanges(after, *alerts);
    return response;
  }
  const UtcMs now = ctx.site().clock.Now();
  std::string key = "kitchen changes " + ctx.principal().company_uuid;
  for (const int64_t part : {per_page, seen.values.epoch, seen.Orders(), seen.Kitchen(),
                             seen.values.events, alerts->revision, now / kUsedMs}) {
    key += ' ' + std::to_string(part);
  }
  key += ' ' + std::string(after);
  const auto make = [&] {
    http::Response response;
    response.body = ctx.Read([&](db::Snapshot& snapshot) {
      return ReadChanges(snapshot, ctx.company(),
                         {.after = after, .per_page = per_page, .now = now}, *alerts);
    });
    return response;
  };
  http::Response plain = ctx.site().answers.Get(key, make);
  return IsWithoutTickets(plain.Body()) ? plain : ctx.SharedUnder(key, make);
}

// A display asks again when it has drawn what it got: a shorter wait tells sooner that it does not.
constexpr int kDisplayWaitMaxS = 8;

http::Response GetChanges(http::Context& ctx) {
  constexpr std::array<std::string_view, 6> kParameters = {"after",   "per_page", kDisplay,
                                                           kStations, kSound,     kAwake};
  ctx.query().AllowOnly(kParameters);
  const std::string after(ctx.query().Find("after").value_or(""));
  const int64_t per_page =
      ctx.query().Find("per_page") ? ctx.query().ReadPaging().per_page : http::kPerPageMax;
  const std::unique_ptr<Presence::Poll> poll = BeginPoll(ctx);

  // Read before the rows: a change in between then ends the wait immediately.
  Seen seen = SeenNow(ctx);
  http::Response response = Changes(ctx, after, per_page, seen);
  const bool has_alerts = poll && poll->alerts_seen() != seen.alerts;
  bool is_quiet = false;
  if (IsWithoutTickets(response.Body()) && !has_alerts) {
    // An order without lines changes no ticket: of the page without tickets only the cursor is
    // kept.
    const auto is_news = [&] {
      const Seen before = std::exchange(seen, SeenNow(ctx));
      response = Changes(ctx, std::string(NextOfEmpty(response.Body())), per_page, seen);
      return before.Kitchen() != seen.Kitchen() || before.alerts != seen.alerts ||
             before.values.epoch != seen.values.epoch || !IsWithoutTickets(response.Body());
    };
    bool has_news = false;
    const bool waited =
        ctx.AwaitNews([&] { return SeenNow(ctx) != seen; }, [&] { return has_news = is_news(); },
                      poll ? kDisplayWaitMaxS : http::kWaitSecondsMax);
    is_quiet = waited && !has_news;
  }
  response.costs_nothing = is_quiet;
  if (poll) poll->NoteAlerts(seen.alerts);
  return Versioned(std::move(response));
}

// Commands

Target TargetOf(const http::Context& ctx) {
  ctx.query().AllowOnly({});
  std::optional<std::string> key = orders::NormalisedKey(ctx.parameter("orderId"));
  if (!key) {
    throw Invalid("orderId", FieldCode::kInvalidFormat,
                  "must be the order's UUID or its public id, such as PE-7222853393");
  }
  return {.company = ctx.company(),
          .company_uuid = ctx.principal().company_uuid,
          .key = *std::move(key),
          .actor = ctx.principal().actor,
          .by = ctx.principal().name};
}

template <typename Command>
http::Response Write(http::Context& ctx, Target target, Command&& command) {
  return Versioned(ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Record record = command(tx, target, stamp);
    http::Response response = http::Data(record.json);
    response.event_seq = record.event_seq;
    return response;
  }));
}

http::Response PostDone(http::Context& ctx) {
  Target target = TargetOf(ctx);
  const std::vector<std::string> lines = ReadLineIds(BodyOf(ctx));
  return Write(ctx, std::move(target),
               [&](db::Tx& tx, const Target& named, const db::Stamp& stamp) {
                 return MarkDone(tx, named, lines, stamp);
               });
}

http::Response PostUndo(http::Context& ctx) {
  Target target = TargetOf(ctx);
  const std::vector<std::string> lines = ReadLineIds(BodyOf(ctx));
  return Write(ctx, std::move(target),
               [&](db::Tx& tx, const Target& named, const db::Stamp& stamp) {
                 return Undo(tx, named, lines, stamp);
               });
}

void RequireNoFields(http::Context& ctx) {
  json::Errors errors;
  json::ObjectReader(ctx.body().root(), "", errors, ctx.unknown_fields()).Finish();
  errors.ThrowIfAny();
}

http::Response PostStart(http::Context& ctx) {
  Target target = TargetOf(ctx);
  RequireNoFields(ctx);
  return Write(ctx, std::move(target), Start);
}

http::Response PostRush(http::Context& ctx) {
  Target target = TargetOf(ctx);
  const bool on = ReadRush(BodyOf(ctx));
  return Write(ctx, std::move(target),
               [&](db::Tx& tx, const Target& named, const db::Stamp& stamp) {
                 return Rush(tx, named, on, stamp);
               });
}

http::Response PostOut(http::Context& ctx) {
  Target target = TargetOf(ctx);
  RequireNoFields(ctx);
  return Write(ctx, std::move(target), [](db::Tx& tx, const Target& named, const db::Stamp& stamp) {
    return SendOut(tx, named, stamp);
  });
}

// Settings

// What a page needs to know of the restaurant.
std::string RestaurantOf(const company::Company& company) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("name").Text(company.name);
  out.Key("timezone").Text(company.timezone);
  out.Key("language").Text(company.language);
  out.Key("day_starts_at").Text(company::FormatTimeOfDay(company.day_starts_at));
  out.EndObject();
  return text;
}

http::Response Shown(db::Session& session, db::CompanyId company) {
  return http::Data(
      Render(FindSettings(session, company), RestaurantOf(company::Get(session, company))));
}

http::Response GetSettings(http::Context& ctx) {
  ctx.query().AllowOnly({});
  return Versioned(
      ctx.Read([&](db::Snapshot& snapshot) { return Shown(snapshot, ctx.company()); }));
}

http::Response PatchSettings(http::Context& ctx) {
  ctx.query().AllowOnly({});
  return Versioned(ctx.Write([&](db::Tx& tx, const db::Stamp&) {
    Set(tx, ctx.company(), ReadSettings(BodyOf(ctx), FindSettings(tx, ctx.company())));
    return Shown(tx, ctx.company());
  }));
}

// The menu, for what is sold out

void WriteExtra(json::Writer& out, const menu::Extra& extra) {
  out.BeginObject();
  out.Key("id").Text(extra.id);
  out.Key("name").Text(extra.name);
  menu::AppendSoldOut(out, extra.sold_out);
  out.EndObject();
}

void WriteDish(json::Writer& out, const menu::Dish& dish) {
  out.BeginObject();
  out.Key("id").Text(dish.id);
  out.Key("name").Text(dish.name);
  out.Key("station_id").Text(dish.station_id);
  out.Key("available").Boolean(dish.available);
  menu::AppendSoldOut(out, dish.sold_out);
  out.Key("modifiers").BeginArray();
  for (const menu::Extra& extra : dish.extras) WriteExtra(out, extra);
  out.EndArray();
  out.EndObject();
}

http::Response GetMenu(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const auto lists =
      ctx.Read([&](db::Snapshot& snapshot) { return menu::AllDishes(snapshot, ctx.company()); });
  http::Response response;
  json::Writer out(response.body);
  out.BeginObject().Key("data").BeginObject().Key("categories").BeginArray();
  for (const menu::DishList& list : lists) {
    out.BeginObject();
    out.Key("id").Text(list.category_id);
    out.Key("name").Text(list.category_name);
    out.Key("products").BeginArray();
    for (const menu::Dish& dish : list.dishes) WriteDish(out, dish);
    out.EndArray();
    out.EndObject();
  }
  out.EndArray().EndObject().EndObject();
  return Versioned(std::move(response));
}

bool IsPublicId(std::string_view text) { return !ParseId(text) && orders::NormalisedKey(text); }

constexpr http::PublicIds kPublicIds = {.is_one = IsPublicId, .find_uuid = orders::FindUuid};

// Orders are made and marked until the disk is full.
constexpr auto kCommands = http::With(
    http::Space::kNone,
    http::With(kPublicIds,
               std::array{
                   http::Post("/v1/kitchen/tickets/{orderId}/done", Scope::kKitchenWrite, PostDone),
                   http::Post("/v1/kitchen/tickets/{orderId}/undo", Scope::kKitchenWrite, PostUndo),
                   http::PostBodyOptional("/v1/kitchen/tickets/{orderId}/start",
                                          Scope::kKitchenWrite, PostStart),
                   http::Post("/v1/kitchen/tickets/{orderId}/rush", Scope::kKitchenWrite, PostRush),
                   http::PostBodyOptional("/v1/kitchen/tickets/{orderId}/out", Scope::kKitchenWrite,
                                          PostOut),
               }));

constexpr std::array kReads = {
    http::ShowingOrders(http::Get("/v1/kitchen/tickets", Scope::kKitchenRead, GetTickets)),
    http::ShowingOrders(http::Get("/v1/kitchen/changes", Scope::kKitchenRead, GetChanges)),
    http::Get("/v1/kitchen/menu", Scope::kKitchenRead, GetMenu),
    http::Get("/v1/kitchen/settings", Scope::kKitchenRead, GetSettings),
    http::Patch("/v1/kitchen/settings", Scope::kAdminWrite, PatchSettings),
};

template <size_t N, size_t M>
constexpr std::array<http::Route, N + M> Joined(const std::array<http::Route, N>& first,
                                                const std::array<http::Route, M>& second) {
  std::array<http::Route, N + M> all{};
  for (size_t i = 0; i < N; ++i) all[i] = first[i];
  for (size_t i = 0; i < M; ++i) all[N + i] = second[i];
  return all;
}

constexpr auto kRoutes = http::With(db::Readers::kOrders, Joined(kReads, kCommands));

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::kitchen
