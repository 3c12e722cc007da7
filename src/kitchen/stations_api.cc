#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/id.h"
#include "company/companies.h"
#include "http/context.h"
#include "http/list.h"
#include "json/writer.h"
#include "kitchen/answers.h"
#include "kitchen/api.h"
#include "kitchen/kitchen.h"
#include "kitchen/presence.h"
#include "kitchen/rules.h"
#include "kitchen/store.h"
#include "kitchen/watch.h"
#include "menu/stations.h"

namespace comanda::kitchen {
namespace {

using auth::Scope;

void Write(json::Writer& out, const Display& display) {
  out.BeginObject();
  out.Key("key_id").Text(display.key_id);
  out.Key("name").Text(display.name);
  out.Key("display").Text(display.display);
  out.Key("sound").Text(display.state.is_muted ? "muted" : "on");
  out.Key("awake").Boolean(display.state.is_awake);
  out.Key("last_seen_at").Instant(display.last_seen_at);
  out.EndObject();
}

// What waits at a station, of tickets that are open.
struct Waiting {
  int64_t lines = 0;
  std::optional<UtcMs> oldest_at;
};

std::map<std::string, Waiting> WaitingByStation(const std::vector<Ticket>& tickets, UtcMs now) {
  std::map<std::string, Waiting> waiting;
  for (const Ticket& ticket : tickets) {
    if (StateAt(ticket, now) != State::kOpen) continue;
    for (const Line& line : ticket.lines) {
      if (!line.station_id || !Waits(ticket, line, now)) continue;
      Waiting& at = waiting[*line.station_id];
      ++at.lines;
      at.oldest_at = std::min(at.oldest_at.value_or(line.added_at), line.added_at);
    }
  }
  return waiting;
}

std::string Render(const store::Station& station, const Waiting& waiting,
                   const std::vector<Display>& displays, std::optional<UtcMs> unwatched_since) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("id").Text(station.id);
  out.Key("name").Text(station.name);
  out.Key("prepares").Boolean(station.prepares);
  out.Key("position").Integer(station.position);
  out.Key("open_lines").Integer(waiting.lines);
  out.Key("oldest_line_at").Instant(waiting.oldest_at);
  out.Key("displays").BeginArray();
  for (const Display& display : displays) {
    if (display.is_present && display.Shows(station.id)) Write(out, display);
  }
  out.EndArray();
  out.Key("unwatched_since").Instant(unwatched_since);
  out.EndObject();
  return text;
}

http::Response GetStations(http::Context& ctx) {
  http::RequireListParameters(ctx.query(), {});
  const http::Paging paging = ctx.query().ReadPaging();
  constexpr std::array<std::string_view, 1> kSorts = {"position"};
  const bool is_descending = ctx.query().ReadSort(kSorts, "position").descending;
  const std::vector<Display> displays = WatchOf(ctx).presence().Displays(ctx.company());
  const UtcMs now = ctx.site().clock.Now();
  http::Response response = ctx.ReadPage([&](db::Snapshot& snapshot, http::PageRows& rows) {
    std::vector<store::Station> stations = store::Stations(snapshot, ctx.company());
    if (is_descending) std::ranges::reverse(stations);
    const auto waiting =
        WaitingByStation(store::CurrentTickets(snapshot, ctx.company(), {.now = now}), now);
    const auto total = static_cast<int64_t>(stations.size());
    const int64_t begin = std::min(total, paging.offset());
    for (int64_t i = begin; i < std::min(total, begin + paging.per_page); ++i) {
      const store::Station& station = stations[static_cast<size_t>(i)];
      const auto at = waiting.find(station.id);
      rows.Add(Render(station, at == waiting.end() ? Waiting() : at->second, displays,
                      WatchOf(ctx).UnwatchedSince(ctx.company(), station.id)));
    }
    http::Response page;
    page.body = rows.End(paging, total);
    return page;
  });
  return Versioned(std::move(response));
}

// Writing

// As GET shows it.
http::Response Shown(http::Context& ctx, db::Session& session, std::string_view id, int status) {
  const UtcMs now = ctx.site().clock.Now();
  const auto waiting =
      WaitingByStation(store::CurrentTickets(session, ctx.company(), {.now = now}), now);
  const auto at = waiting.find(std::string(id));
  const std::vector<store::Station> stations = store::Stations(session, ctx.company());
  const auto station = std::ranges::find(stations, id, &store::Station::id);
  CHECK(station != stations.end(), "the station was written");
  return http::Data(Render(*station, at == waiting.end() ? Waiting() : at->second,
                           WatchOf(ctx).presence().Displays(ctx.company()),
                           WatchOf(ctx).UnwatchedSince(ctx.company(), station->id)),
                    status);
}

http::Response PostStation(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const menu::StationFields fields = ReadNewStation(BodyOf(ctx));
  const std::string spare_id = NewId(ctx.site().clock.Now());
  return Versioned(ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const company::Company company = company::Get(tx, ctx.company());
    const menu::Station added = menu::AddStation(tx, company, fields, spare_id);
    NoteStations(tx, ctx.company(), company.id, {}, stamp);
    return Shown(ctx, tx, added.id, 201);
  }));
}

http::Response PatchStation(http::Context& ctx) {
  const std::string id = ctx.UuidParameter("id");
  ctx.query().AllowOnly({});
  const menu::StationFields fields = ReadStationChange(BodyOf(ctx), id);
  return Versioned(ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const company::Company company = company::Get(tx, ctx.company());
    const auto [before, after] = menu::ChangeStation(tx, company, id, fields);
    if (before != after) {
      std::vector<std::string> switched;
      if (before.prepares != after.prepares) switched.push_back(id);
      NoteStations(tx, ctx.company(), company.id, switched, stamp);
    }
    return Shown(ctx, tx, id, 200);
  }));
}

constexpr auto kRoutes =
    http::With(db::Readers::kOrders,
               std::array{
                   http::Get("/v1/kitchen/stations", Scope::kKitchenRead, GetStations),
                   http::Post("/v1/kitchen/stations", Scope::kAdminWrite, PostStation),
                   http::Patch("/v1/kitchen/stations/{id}", Scope::kAdminWrite, PatchStation),
               });

}  // namespace

std::span<const http::Route> StationRoutes() { return kRoutes; }

}  // namespace comanda::kitchen
