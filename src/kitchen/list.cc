#include "kitchen/list.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/text.h"
#include "events/cursor.h"
#include "events/log.h"
#include "kitchen/json.h"
#include "kitchen/rules.h"
#include "kitchen/store.h"

namespace comanda::kitchen {
namespace {

constexpr std::string_view kState = "filter[state]";
constexpr std::string_view kDoneSince = "filter[done_since]";
constexpr std::string_view kStationId = "filter[station_id]";
constexpr std::array kParameters = {kState, kDoneSince, kStationId};
constexpr std::array<std::string_view, 2> kSorts = {"opened_at", "order_number"};

struct Wanted {
  std::vector<size_t> states;  // empty: every one
  std::optional<UtcMs> done_since;
  std::optional<std::vector<std::string>> stations;
  std::optional<int64_t> snapshot;

  bool Has(State state) const {
    return states.empty() || std::ranges::find(states, static_cast<size_t>(state)) != states.end();
  }
};

Wanted ReadWanted(const http::Query& query) {
  Wanted wanted{.states = query.ReadWords(kState, kStateNames),
                .done_since = query.ReadInstant(kDoneSince),
                .stations = ReadIds(query, kStationId),
                .snapshot = http::ReadSnapshot(query)};
  if (wanted.states.empty() && !wanted.done_since) {
    for (const State state : {State::kLater, State::kOpen, State::kReady, State::kCancelled}) {
      wanted.states.push_back(static_cast<size_t>(state));
    }
  }
  return wanted;
}

// A line without a station is everybody's.
bool IsOf(const Ticket& ticket, const std::vector<std::string>& stations) {
  return std::ranges::any_of(ticket.lines, [&](const Line& line) {
    return !line.station_id || std::ranges::find(stations, *line.station_id) != stations.end();
  });
}

bool Matches(const Ticket& ticket, const Wanted& wanted, UtcMs now) {
  if (wanted.snapshot && ticket.created_seq > *wanted.snapshot) return false;
  if (wanted.done_since && LastMark(ticket).value_or(0) < *wanted.done_since) return false;
  if (wanted.stations && !IsOf(ticket, *wanted.stations)) return false;
  return wanted.Has(StateAt(ticket, now));
}

void Sort(const http::Query& query, bool is_recall, std::vector<Ticket>& tickets) {
  const http::Sort sort = query.ReadSort(kSorts, "opened_at");
  const bool by_mark = is_recall && !query.Find("sort");
  const auto key = [&](const Ticket& ticket) -> int64_t {
    if (by_mark) return -LastMark(ticket).value_or(0);
    const int64_t value = sort.index == 0 ? OpenedAt(ticket) : ticket.order_number;
    return sort.descending ? -value : value;
  };
  std::ranges::sort(tickets, [&](const Ticket& a, const Ticket& b) {
    const int64_t first = key(a), second = key(b);
    return first != second ? first < second : a.order_id < b.order_id;
  });
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  std::vector<std::string_view> more(kParameters.begin(), kParameters.end());
  more.push_back(http::kSnapshotParameter);
  http::RequireListParameters(query, {}, more);
}

std::optional<std::vector<std::string>> ReadIds(const http::Query& query, std::string_view name) {
  const std::optional<std::string_view> value = query.Find(name);
  if (!value) return std::nullopt;
  std::vector<std::string> ids;
  for (std::string_view rest = *value;;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::optional<std::string> id = ParseId(rest.substr(0, comma));
    if (!id) {
      throw http::MalformedFilter(name, "must be UUIDs of stations, separated by commas.");
    }
    ids.push_back(*std::move(id));
    if (comma == rest.size()) return ids;
    rest.remove_prefix(comma + 1);
  }
}

Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query, UtcMs now,
              http::PageRows& rows) {
  const Wanted wanted = ReadWanted(query);
  Page page;
  page.paging = query.ReadPaging();
  const events::Extent log = events::ExtentOf(session, company);
  page.snapshot = http::SnapshotOf(query, log.last);
  page.cursor = events::Encode({log.epoch, log.last});
  std::vector<Ticket> tickets =
      wanted.done_since
          ? store::TouchedTickets(session, company, *wanted.done_since)
          : store::CurrentTickets(session, company,
                                  {.now = now, .with_closed = wanted.Has(State::kClosed)});
  for (const Ticket& ticket : tickets) {
    const std::optional<UtcMs> next = NextMoment(ticket, now);
    if (next && (!page.next_moment || *next < *page.next_moment)) page.next_moment = next;
  }
  std::erase_if(tickets, [&](const Ticket& ticket) { return !Matches(ticket, wanted, now); });
  Sort(query, wanted.done_since.has_value(), tickets);
  page.total = static_cast<int64_t>(tickets.size());
  const int64_t begin = std::min(page.total, page.paging.offset());
  const int64_t end = std::min(page.total, begin + page.paging.per_page);
  const Form form = wanted.done_since ? Form::kWhole : Form::kStateIfClosed;
  for (int64_t i = begin; i < end; ++i) {
    rows.Add(Render(tickets[static_cast<size_t>(i)], form, now));
  }
  return page;
}

}  // namespace comanda::kitchen
