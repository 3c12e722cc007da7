#include "cloud/orders/orders_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/time/zone.h"
#include "cloud/orders/cloud_record.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/path.h"
#include "cloud/readings.h"
#include "cloud/orders/shown_members.h"
#include "cloud/orders/record_merge.h"
#include "cloud/orders/went_back.h"
#include "company/companies.h"
#include "crypto/hash.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "wire/percent.h"

namespace comanda::cloud {
namespace {

constexpr int64_t kIdleMs = 3'600'000;  // nothing is due: an answer or a change wakes the worker
constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kRecentMs = 2 * kDayMs;
constexpr int kEventsPerPage = 100;
constexpr int kParts = 10;
constexpr int64_t kRowsUnknown = 1'000'000;  // of a page of a cloud that takes no per_page
constexpr int64_t kWaitS = 25;
constexpr size_t kReadByIdMax = 100;
constexpr int kLargeInARowMax = 3;  // then it is no large order, but no answer
constexpr int64_t kOpenHereMax = 1'000;
// What is kept in memory.
constexpr size_t kPagesKeptMax = 400;
constexpr size_t kWalksMax = 10;
constexpr size_t kCursorBytesMax = 1'000;
constexpr int kCursorExpired = 410;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;

// An answer that may be usable in parts: too large, or with more values than a document may have.
bool IsTooLarge(const Reply& reply) {
  if (reply.verdict != Verdict::kLater || reply.reachability != Reachability::kUnusable) {
    return false;
  }
  constexpr int kOk = 200;
  const net::Answer& answer = reply.answer.answer();
  return answer.outcome == net::Outcome::kAnswerTooLarge || answer.status == kOk;
}

int64_t RowsOfAPage(const Features& features, int64_t rows_max) {
  return std::min(features.per_page == 0 ? kRowsUnknown : features.per_page, rows_max);
}

bool IsOpen(json::Value record) {
  const auto status = ShownMembers(record).OneOf("status", orders::kStatusNames);
  return !status || !orders::IsClosed(static_cast<orders::Status>(*status));
}

}  // namespace

OrdersReader::OrdersReader(OrdersReaderSettings settings)
    : settings_(std::move(settings)), batches_(settings_) {}

void OrdersReader::Restart() {
  memory_ = {};
  batches_.Forget();
}

// What is due

bool OrdersReader::Follows(const Linked& linked) const {
  return linked.link.features.has_events && settings_.clock.MonotonicMs() >= memory_.polls_until_ms;
}

int64_t OrdersReader::DueInMs(const Linked& linked) const {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  if (!Follows(linked)) {
    return std::max<int64_t>(0, std::min(memory_.open_at_ms, memory_.recent_at_ms) - now_ms);
  }
  if (!memory_.changed.empty() || memory_.cursor_behind) return 0;
  if (!linked.link.cursor) return std::max<int64_t>(0, memory_.listing_at_ms - now_ms);
  const int64_t events_ms = memory_.events_at_ms > now_ms ? memory_.events_at_ms - now_ms : kIdleMs;
  if (memory_.again.empty()) return events_ms;
  return std::min(events_ms, std::max<int64_t>(0, memory_.again_at_ms - now_ms));
}

void OrdersReader::Read(const Linked& linked, Line& line) {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  if (Follows(linked)) {
    ReadChanged(linked, line);
    if (!linked.link.cursor && now_ms >= memory_.listing_at_ms) ReadListing(linked, line);
    return;
  }
  if (now_ms >= memory_.open_at_ms) {
    ReadOpen(linked, line);
    memory_.open_at_ms = settings_.clock.MonotonicMs() + settings_.poll_ms;
  }
  if (now_ms >= memory_.recent_at_ms) {
    ReadRecent(linked, line);
    memory_.recent_at_ms = settings_.clock.MonotonicMs() + kRecentOrdersEveryMs;
  }
}

// The orders that events have named, as they are now; the cursor goes behind those events then. One
// that the cloud does not give is told, asked for again, and keeps no other waiting.
void OrdersReader::ReadChanged(const Linked& linked, Line& line) {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  if (now_ms >= memory_.again_at_ms) memory_.changed.merge(memory_.again);
  while (!memory_.changed.empty()) {
    const std::string id = *memory_.changed.begin();
    if (!ReadOne(linked, line, id)) {
      batches_.NoteUnreadable(linked, id, "the cloud does not give it");
      memory_.again.insert(id);
      memory_.again_at_ms = now_ms + settings_.poll_ms;
    }
    memory_.changed.erase(id);
  }
  const auto cursor = std::exchange(memory_.cursor_behind, std::nullopt);
  if (!cursor) return;
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { PutCursor(tx, linked.company, cursor); });
}

// Every event that the rows do not reflect lies after the cursor of the first answer.
void OrdersReader::ReadListing(const Linked& linked, Line& line) {
  const bool is_read = ReadOpen(linked, line) && ReadRecent(linked, line);
  const int64_t now_ms = settings_.clock.MonotonicMs();
  memory_.listing_at_ms = now_ms + settings_.poll_ms;
  if (!is_read) return;
  const std::optional<std::string> cursor = std::exchange(memory_.listing_cursor, std::nullopt);
  if (!cursor) {
    batches_.Report("the cloud gives no cursor of its events, so it is polled", "", "");
    memory_.polls_until_ms = now_ms + kDayMs;
    return;
  }
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { PutCursor(tx, linked.company, cursor); });
}

// Listings

bool OrdersReader::ReadOpen(const Linked& linked, Line& line) {
  std::vector<std::string> filters;
  if (linked.link.features.takes_status_list) {
    filters.emplace_back("PENDING,PREPARING,READY,DELIVERED");
  } else {
    filters = {"PENDING", "PREPARING", "READY", "DELIVERED"};
  }
  std::set<std::string> open;
  for (const std::string& filter : filters) {
    auto ids = ReadPages(linked, line, Concat({"/v1/orders?filter[status]=", filter}));
    if (!ids) {
      NoteListing(linked, Listing::kOpen, false);
      return false;
    }
    open.merge(*ids);
  }
  NoteListing(linked, Listing::kOpen, true);
  return ReadThoseThatLeft(linked, line, open);
}

bool OrdersReader::ReadRecent(const Linked& linked, Line& line) {
  const bool is_read = ReadPages(linked, line, RecentPath(linked)).has_value();
  NoteListing(linked, Listing::kRecent, is_read);
  return is_read && (!GoneBackSince(linked.link) || CompareSent(linked, line));
}

bool OrdersReader::CompareSent(const Linked& linked, Line& line) {
  const UtcMs since = settings_.clock.Now() - kSentOrdersMs;
  const auto there = ReadPages(linked, line, PathSince(linked, since), Taken::kKnown);
  if (there) NoteMissing(linked, *there);
  return there.has_value();
}

// Those that the list does not show are read by their ids before anything of them is sent.
void OrdersReader::NoteMissing(const Linked& linked, const std::set<std::string>& there) {
  const auto missing = settings_.database.Read([&](db::Snapshot& snapshot) {
    std::vector<std::string> ids = FindSent(snapshot, linked.company, settings_.clock.Now());
    std::erase_if(ids, [&](const std::string& id) {
      const auto alias = aliases::FindByBoxId(snapshot, linked.company, aliases::Kind::kOrder, id);
      return !alias || there.contains(alias->cloud_id);
    });
    return ids;
  });
  if (!missing.empty()) {
    log::Warning(
        "the cloud does not list orders that were sent to it: they are read, and placed "
        "again where it has lost them",
        {{"orders", static_cast<int64_t>(missing.size())}});
  }
  for (const std::string& id : missing) {
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      ReadAgain(tx, linked.company, id, RulesOf(settings_.rider_provider, linked.link), stamp);
    });
  }
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    PutVisit(tx, linked.company, kSentOrdersPart, {.at = stamp.now});
  });
}

// A trouble that stays is written down once, and a success of the list that is read seldom.
void OrdersReader::NoteListing(const Linked& linked, Listing listing, bool is_read) {
  if (!memory_.noted) {
    // A trouble from before ends with what is read last.
    const Listing last =
        Follows(linked) && linked.link.cursor ? Listing::kEvents : Listing::kRecent;
    memory_.noted = VisitOf(linked.link.progress, kOrdersPart).trouble;
    memory_.troubles[static_cast<size_t>(last)] = *memory_.noted;
  }
  memory_.troubles[static_cast<size_t>(listing)] = is_read ? "" : memory_.trouble;
  std::string trouble;
  for (const std::string& one : memory_.troubles) {
    if (trouble.empty()) trouble = one;
  }
  const bool is_whole = listing == Listing::kRecent && trouble.empty();
  if (trouble == memory_.noted && !is_whole) return;
  memory_.noted = trouble;
  settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
    const auto link = FindLink(tx, linked.company);
    if (!link) return;
    Visit visit = VisitOf(link->progress, kOrdersPart);
    NoteReading(visit, trouble, settings_.clock.Now());
    PutVisit(tx, linked.company, kOrdersPart, visit);
  });
}

// From the last reading, as after a restore, but two days at least; until tomorrow, for a cloud
// whose clock is ahead.
std::string OrdersReader::RecentPath(const Linked& linked) {
  const UtcMs now = settings_.clock.Now();
  const UtcMs read_at = VisitOf(linked.link.progress, kOrdersPart).at;
  return PathSince(linked, std::min(now, read_at == 0 ? now : read_at) - kRecentMs);
}

std::string OrdersReader::PathSince(const Linked& linked, UtcMs since) {
  const Zone zone = settings_.database.Read([&](db::Snapshot& snapshot) {
    return company::FindZone(company::Get(snapshot, linked.company));
  });
  const UtcMs now = settings_.clock.Now();
  std::string path = Concat({"/v1/orders?filter[start_date]=", FormatDay(zone.ToLocal(since).day)});
  if (linked.link.features.takes_end_date) {
    path += "&filter[end_date]=" + FormatDay(NextDay(zone.ToLocal(now).day));
  }
  return path;
}

// The oldest first: an order that is made meanwhile moves no other one to another page.
std::optional<std::set<std::string>> OrdersReader::ReadPages(const Linked& linked, Line& line,
                                                             const std::string& path, Taken taken) {
  if (memory_.walks.size() >= kWalksMax && !memory_.walks.contains(path)) memory_.walks.clear();
  Walk& walk = memory_.walks.try_emplace(path, Walk{.path = path}).first->second;
  walk.takes_known = taken == Taken::kKnown;
  const auto is_endless = [&] {
    return walk.row >= kOrderPagesMax * RowsOfAPage(linked.link.features, walk.rows_max);
  };
  while (walk.has_more && walk.is_new && !is_endless()) {
    if (ReadPage(linked, line, walk) == Outcome::kGivenUp) {
      memory_.walks.erase(path);
      return std::nullopt;
    }
  }
  if (walk.has_more && is_endless()) {
    batches_.Report("a list of orders of the cloud has no end", path, "");
  }
  while (!walk.without_rows.empty()) {
    ReadOne(linked, line, walk.without_rows.back());
    walk.without_rows.pop_back();
  }
  std::set<std::string> ids = std::move(walk.ids);
  memory_.walks.erase(path);
  return ids;
}

// The largest page of the next row that was not too large; smaller ones are tenths, then of one
// row.
OrdersReader::PagePlace OrdersReader::NextPage(const Linked& linked, const Walk& walk) {
  PagePlace place{.rows = RowsOfAPage(linked.link.features, walk.rows_max)};
  while (true) {
    place.number = walk.row / place.rows + 1;
    if (place.rows == 1 || !walk.too_large.contains(place)) return place;
    place.rows = place.rows % kParts == 0 ? place.rows / kParts : 1;
  }
}

OrdersReader::Outcome OrdersReader::ReadPage(const Linked& linked, Line& line, Walk& walk) {
  const PagePlace place = NextPage(linked, walk);
  const bool takes_size = linked.link.features.per_page > 0;
  const std::string path = Concat({walk.path, "&sort=created_at",
                                   PerPage(takes_size ? place.rows : 0), "&page=", place.number});
  const auto known = memory_.pages.find(path);
  const Reply reply =
      line.Ask({.path = path, .etag = known == memory_.pages.end() ? "" : known->second.etag});
  if (reply.verdict == Verdict::kNotModified && known != memory_.pages.end()) {
    NotePage(walk, place, known->second);
    return Outcome::kDone;
  }
  if (reply.verdict == Verdict::kOk) {
    TakePage(linked, walk, reply, path, place);
    return Outcome::kDone;
  }
  if (IsTooLarge(reply) && takes_size) return NoteTooLarge(walk, place);
  memory_.trouble = reply.trouble.empty() ? "the answer is no list" : reply.trouble;
  batches_.Report("the cloud gives no list of its orders", path, reply.trouble);
  return Outcome::kGivenUp;
}

// A page of one order that is too large is left out.
OrdersReader::Outcome OrdersReader::NoteTooLarge(Walk& walk, const PagePlace& place) {
  if (place.rows > 1) {
    walk.too_large.insert(place);
    return Outcome::kDone;
  }
  batches_.Report("an order of the cloud is too large", walk.path,
                  Concat({"number ", place.number}));
  walk.furthest = std::max(walk.furthest, ++walk.row);
  if (++walk.large_in_a_row < kLargeInARowMax) return Outcome::kDone;
  memory_.trouble = "the orders in its list are too large";
  return Outcome::kGivenUp;
}

// The walk has read the page. A page that brings nothing new ends it, unless it lies before the
// rows that were read one by one.
void OrdersReader::NotePage(Walk& walk, const PagePlace& place, const Page& page) {
  const size_t before = walk.ids.size();
  walk.ids.insert(page.ids.begin(), page.ids.end());
  walk.has_more = page.has_more;
  walk.large_in_a_row = 0;
  // A cloud that gives fewer rows than it was asked for cuts its list into pages of so many.
  if (page.has_more && page.rows < place.rows) walk.rows_max = std::min(walk.rows_max, page.rows);
  walk.row = (place.number - 1) * std::min(place.rows, walk.rows_max) + page.rows;
  walk.is_new = walk.ids.size() > before || walk.row <= walk.furthest;
  walk.furthest = std::max(walk.furthest, walk.row);
}

void OrdersReader::TakePage(const Linked& linked, Walk& walk, const Reply& reply,
                            const std::string& path, const PagePlace& place) {
  const std::vector<json::Value> records = reply.answer.Items("data");
  Page page{.etag = reply.answer.HeaderOr("ETag", ""),
            .rows = static_cast<int64_t>(records.size())};
  for (const json::Value& record : records) {
    std::string id = CloudIdOf(record);
    if (!id.empty()) page.ids.push_back(std::move(id));
  }
  const auto has_more = reply.answer.Find("pagination.has_more");
  const bool says = has_more && has_more->kind() == json::Kind::kBoolean;
  const bool is_full = place.rows == kRowsUnknown || page.rows >= place.rows;
  page.has_more = !records.empty() && (says ? has_more->boolean() : is_full);
  const std::string cursor = reply.answer.HeaderOr("X-Event-Cursor", "");
  const bool is_usable = !cursor.empty() && cursor.size() <= kCursorBytesMax;
  if (Follows(linked) && !memory_.listing_cursor && is_usable) {
    memory_.listing_cursor = cursor;
  }
  const std::vector<json::Value> wanted = walk.takes_known ? KnownOf(linked, records) : records;
  for (const json::Value& record : batches_.Take(linked, wanted, Shown::kInList, std::nullopt)) {
    if (!ShownMembers(record).Items("combos")) walk.without_rows.push_back(CloudIdOf(record));
  }
  NotePage(walk, place, page);
  if (page.etag.empty()) return;
  if (memory_.pages.size() >= kPagesKeptMax) memory_.pages.clear();
  memory_.pages[path] = std::move(page);
}

// Orders by their ids

std::optional<bool> OrdersReader::ReadOne(const Linked& linked, Line& line,
                                          const std::string& cloud_id) {
  const Reply reply = line.Ask({.path = OrderPath(cloud_id)});
  if (reply.verdict == Verdict::kOk) {
    const auto record = reply.answer.Find("data");
    if (!record) return std::nullopt;
    batches_.Take(linked, std::array{*record}, Shown::kAlone, std::nullopt);
    return IsOpen(*record);
  }
  if (reply.verdict == Verdict::kRefused && reply.answer.status() == kNotFound) {
    // What a cloud that went back has lost is placed again.
    if (GoneBackSince(linked.link)) return false;
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      MergeGone(tx, linked.company, cloud_id, stamp);
    });
    return false;
  }
  batches_.Report("the cloud does not give one of its orders", cloud_id, reply.trouble);
  return std::nullopt;
}

// Those that were open in the cloud at the last reading, or are open locally. An order is read once
// after it has left; one that could not be read is looked at again.
bool OrdersReader::ReadThoseThatLeft(const Linked& linked, Line& line,
                                     std::set<std::string>& open) {
  std::set<std::string> missing;
  for (const std::string& id : OpenHere(linked)) missing.insert(id);
  missing.insert(memory_.open.begin(), memory_.open.end());
  std::erase_if(missing, [&](const std::string& id) { return open.contains(id); });
  std::erase_if(memory_.left, [&](const std::string& id) { return !missing.contains(id); });
  size_t read = 0;
  for (const std::string& id : missing) {
    if (memory_.left.contains(id)) continue;
    if (++read > kReadByIdMax) {
      open.insert(id);  // it is still to be read
      continue;
    }
    const std::optional<bool> is_open = ReadOne(linked, line, id);
    if (is_open == false) memory_.left.insert(id);
    if (is_open == true) open.insert(id);
  }
  memory_.open = std::move(open);
  return true;
}

// The cloud's ids of orders that are open locally.
std::vector<std::string> OrdersReader::OpenHere(const Linked& linked) {
  return settings_.database.Read([&](db::Snapshot& snapshot) {
    std::vector<std::string> ids;
    for (const std::string& id : store::OpenOrders(snapshot, linked.company, kOpenHereMax)) {
      const auto alias = aliases::FindByBoxId(snapshot, linked.company, aliases::Kind::kOrder, id);
      if (alias) ids.push_back(alias->cloud_id);
    }
    return ids;
  });
}

// Events

std::optional<Request> OrdersReader::EventsRequest(const Linked& linked, Poll poll) const {
  const bool is_due = settings_.clock.MonotonicMs() >= memory_.events_at_ms;
  const bool is_behind = !memory_.changed.empty() || memory_.cursor_behind;
  const bool is_owed = poll == Poll::kOwed;
  const bool has_trouble = is_owed || !VisitOf(linked.link.progress, kOrdersPart).trouble.empty();
  if (!Follows(linked) || !linked.link.cursor) return std::nullopt;
  if (!is_owed && (!is_due || is_behind)) return std::nullopt;
  return Request{.path = Concat({"/v1/events?after=", wire::PercentEncoded(*linked.link.cursor),
                                 "&per_page=", kEventsPerPage}),
                 // After a trouble the answer comes at once, so that its end is known.
                 .wait_s = has_trouble ? 0 : kWaitS};
}

std::vector<json::Value> OrdersReader::KnownOf(const Linked& linked,
                                               const std::vector<json::Value>& records) {
  return settings_.database.Read([&](db::Snapshot& snapshot) {
    std::vector<json::Value> known;
    for (const json::Value& record : records) {
      const bool is_known =
          aliases::FindBoxId(snapshot, linked.company, aliases::Kind::kOrder, CloudIdOf(record))
              .has_value();
      if (is_known) known.push_back(record);
    }
    return known;
  });
}

std::vector<json::Value> OrdersReader::WithoutEchoes(const Linked& linked,
                                                     const std::vector<json::Value>& records) {
  return settings_.database.Read([&](db::Snapshot& snapshot) {
    std::vector<json::Value> others;
    for (const json::Value& record : records) {
      const ShownMembers shown(record);
      const int64_t version = shown.Integer("version").value_or(0);
      const auto id =
          aliases::FindBoxId(snapshot, linked.company, aliases::Kind::kOrder, CloudIdOf(record));
      const auto row = id ? store::FindOrder(snapshot, linked.company, *id) : std::nullopt;
      const LastShown last = row ? row->mirror.shown : LastShown{};
      const bool is_echo = version != 0 && version <= last.version &&
                           shown.Instant("updated_at").value_or(0) <= last.updated_at &&
                           store::WhyParked(snapshot, linked.company, *id).empty();
      if (!is_echo) others.push_back(record);
    }
    return others;
  });
}

bool OrdersReader::TakeEvents(const Linked& linked, const Reply& reply, Poll poll) {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  const int64_t later_ms = now_ms + settings_.poll_ms;
  if (reply.verdict == Verdict::kRefused) {
    const int status = reply.answer.status();
    batches_.Report("the cloud refuses the cursor of its events", "", reply.trouble);
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      PutCursor(tx, linked.company, std::nullopt);
      if (status != kCursorExpired) return;
      auto link = FindLink(tx, linked.company);
      if (!link) return;
      NoteMayHaveGoneBack(link->progress, CountSent(tx, linked.company, stamp.now), stamp.now);
      PutProgress(tx, linked.company, link->progress);
    });
    Restart();
    // The next cursor is not tried at once, in case that it is refused, too.
    memory_.events_at_ms = later_ms;
    if (status != kCursorExpired && status != kBadRequest) memory_.polls_until_ms = now_ms + kDayMs;
    return false;
  }
  const std::string next = reply.answer.Text("next");
  const bool is_usable =
      reply.verdict == Verdict::kOk && !next.empty() && next.size() <= kCursorBytesMax;
  if (!is_usable) {
    memory_.events_at_ms = later_ms;
    memory_.trouble = reply.trouble.empty() ? "its events have no cursor" : reply.trouble;
    NoteListing(linked, Listing::kEvents, false);
    return false;
  }
  NoteListing(linked, Listing::kEvents, true);
  std::vector<json::Value> records;
  const std::vector<json::Value> events = reply.answer.Items("data");
  for (const json::Value& event : events) {
    const auto record = net::Find(event, "data");
    if (!record || net::TextAt(event, "subject.type") != "order") continue;
    // Whether it is newer than what was acknowledged since, its version tells alone.
    if (ShownMembers(*record).Integer("version")) {
      records.push_back(*record);
    } else {
      memory_.changed.insert(CloudIdOf(*record));
    }
  }
  // A cloud that does not wait, or gives the same page again, is asked at the pace of a poll.
  const bool has_waited = reply.answer.Header("Preference-Applied").has_value();
  const bool is_new = next != linked.link.cursor;
  const bool is_same = !is_new || (events.empty() && !has_waited);
  if (is_same && poll == Poll::kDue) memory_.events_at_ms = later_ms;
  const std::vector<json::Value> others = WithoutEchoes(linked, records);
  std::optional<std::string> cursor = is_new ? std::optional(next) : std::nullopt;
  if (!memory_.changed.empty()) memory_.cursor_behind = std::exchange(cursor, std::nullopt);
  batches_.Take(linked, others, Shown::kInList, cursor);
  return !events.empty() && others.empty() && records.size() == events.size();
}

}  // namespace comanda::cloud
