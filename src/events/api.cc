#include "events/api.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/scopes.h"
#include "events/cursor.h"
#include "events/feed.h"
#include "http/context.h"
#include "http/list.h"
#include "json/writer.h"

namespace comanda::events {
namespace {

// A scope with which a key sees the events that raise a counter (events/types.h): one of them
// suffices.
struct Visibility {
  auth::Scope scope;
  Counter counter;
};
constexpr std::array kVisibilities = {
    Visibility{auth::Scope::kOrdersRead, Counter::kOrders},
    Visibility{auth::Scope::kMenuRead, Counter::kCatalogue},
    Visibility{auth::Scope::kStoresRead, Counter::kOther},
    Visibility{auth::Scope::kOrdersRead, Counter::kKitchen},
    Visibility{auth::Scope::kKitchenRead, Counter::kKitchen},
};

std::vector<Counter> VisibleCounters(const http::Context& ctx) {
  std::vector<Counter> counters;
  for (const Visibility& row : kVisibilities) {
    const bool is_listed = std::ranges::find(counters, row.counter) != counters.end();
    if (ctx.principal().scopes.Has(row.scope) && !is_listed) counters.push_back(row.counter);
  }
  // The refusal names one scope: the one that most clients of the feed have.
  if (counters.empty()) auth::Gate::RequireScope(ctx.principal().scopes, auth::Scope::kOrdersRead);
  return counters;
}

bool IsVisible(const StoredEvent& event, const std::vector<Counter>& counters) {
  const auto row = std::ranges::find(kTypes, event.type, &TypeRow::name);
  return row != kTypes.end() && std::ranges::find(counters, row->counter) != counters.end();
}

void WriteChanges(json::Writer& out, std::string_view names) {
  out.BeginArray();
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    out.Text(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  out.EndArray();
}

// `epoch` is the log's current epoch, not the one that the event was written in: restoring a backup
// raises the epoch and keeps the events.
void WriteEvent(json::Writer& out, const StoredEvent& event, int64_t epoch) {
  out.BeginObject();
  out.Key("cursor").Text(Encode({epoch, event.seq}));
  out.Key("event_id").Text(event.event_id);
  out.Key("event_type").Text(event.type);
  out.Key("changes");
  WriteChanges(out, event.changes);
  out.Key("timestamp").Instant(event.at);
  out.Key("subject").BeginObject();
  out.Key("type").Text(event.subject_type);
  // A bulk upsert has no subject of its own: its data lists the ids.
  out.Key("id");
  event.subject_id.empty() ? out.Null() : out.Text(event.subject_id);
  out.Key("version").Integer(event.subject_version);
  out.EndObject();
  out.Key("note");
  event.note.empty() ? out.Null() : out.Raw(event.note);
  out.Key("data").Raw(event.body);
  out.EndObject();
}

// One page of the feed, with the events that the key may see.
struct Shown {
  std::string body;
  bool is_empty = true;
  bool at_end = false;              // no event comes after the page
  std::vector<std::string> damage;  // one message for each damaged event that is left out
};

// Reserves memory for the page (http/answer_budget.h) before it is rendered; returns the size of
// the body. Refusal where the key or the process has no memory left for answers.
size_t ReserveFor(http::Context& ctx, const Page& page) {
  constexpr size_t kHeadBytes = 512;  // the members of an event beside its body
  size_t bytes = kHeadBytes;
  for (const StoredEvent& event : page.events) bytes += event.body.size() + kHeadBytes;
  if (!ctx.TryReserve(2 * bytes)) throw http::AnswerBudget::NoRoom();  // the events, and the page
  return bytes;
}

// Replaces the body of a damaged event by the original one, rendered again from the order's rows.
// False where that is impossible, or where more than the body is damaged.
bool RecoverBody(http::Context& ctx, db::Session& session, StoredEvent& event) {
  try {
    std::optional<std::string> body = ctx.site().read_event_body(session, ctx.company(), event.seq);
    if (!body || !HadBody(ctx.company(), event, *body)) return false;
    event.body = *std::move(body);
    return true;
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return false;
  }
}

Shown ReadShown(http::Context& ctx, std::string_view after, int64_t per_page,
                const std::vector<Counter>& counters) {
  return ctx.Read([&](db::Snapshot& snapshot) {
    const int64_t start = StartOf(after, ExtentOf(snapshot, ctx.company()));
    Page page = ReadPage(
        snapshot, ctx.company(), start, static_cast<int>(per_page),
        [&](const StoredEvent& event) { return event.is_damaged || IsVisible(event, counters); });
    Shown shown{.at_end = page.at_end};
    shown.body.reserve(ReserveFor(ctx, page));
    json::Writer out(shown.body);
    out.BeginObject().Key("data").BeginArray();
    for (StoredEvent& event : page.events) {
      if (event.is_damaged && !RecoverBody(ctx, snapshot, event)) {
        shown.damage.push_back("event " + std::to_string(event.seq) + " of company " +
                               std::to_string(ctx.company().value) + " is not what was written");
        continue;
      }
      if (!IsVisible(event, counters)) continue;
      WriteEvent(out, event, page.extent.epoch);
      shown.is_empty = false;
    }
    out.EndArray();
    out.Key("next").Text(Encode({page.extent.epoch, page.position})).EndObject();
    return shown;
  });
}

// The sum of the change counters of the events that the key may see.
int64_t ChangesSeen(http::Context& ctx, const std::vector<Counter>& counters) {
  const db::ChangeCounters::Values values = ctx.site().database.counters().Of(ctx.company());
  int64_t sum = 0;
  for (const Counter counter : counters) sum += values.changes[static_cast<size_t>(counter)];
  return sum;
}

http::Response Read(http::Context& ctx) {
  constexpr std::array<std::string_view, 2> kParameters = {"after", "per_page"};
  ctx.query().AllowOnly(kParameters);
  const std::vector<Counter> counters = VisibleCounters(ctx);
  const std::string_view after = ctx.query().Find("after").value_or("");
  const int64_t per_page = ctx.query().ReadPaging().per_page;

  // Taken before the rows are read: a change in between then ends the wait immediately.
  const int64_t seen = ChangesSeen(ctx, counters);
  Shown shown = ReadShown(ctx, after, per_page, counters);
  bool waited = false;
  if (shown.is_empty && shown.at_end) {
    waited = ctx.AwaitChange([&] { return ChangesSeen(ctx, counters) != seen; });
    const bool has_news = ChangesSeen(ctx, counters) != seen;
    // The scopes of the key may have changed during the wait.
    if (has_news) shown = ReadShown(ctx, after, per_page, VisibleCounters(ctx));
  }

  http::Response response;
  // An answer given at once costs a request even where it is empty: reading it costs the box a
  // snapshot of the database.
  response.costs_nothing = waited && shown.is_empty && shown.at_end;
  http::NoteDamage(ctx.site(), shown.damage, response);
  response.body = std::move(shown.body);
  return response;
}

// No scope in the row: any scope of kVisibilities suffices, and the handler checks it.
constexpr std::array kRoutes = {
    http::ShowingOrders({http::Method::kGet, "/v1/events", http::Access::kKey, std::nullopt,
                         http::Replay::kNone, false, Read}),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::events
