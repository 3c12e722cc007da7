#include "events/feed.h"

#include <algorithm>
#include <utility>

#include "base/problem.h"

namespace comanda::events {
namespace {

// At most `limit` events up to the log's last one, numbered on from the position without a gap: a
// damaged event stands for a row that is missing or has a damaged number.
std::vector<StoredEvent> ReadOn(db::Session& session, db::CompanyId company, int64_t position,
                                int limit, int64_t last) {
  std::vector<StoredEvent> found = ReadAfter(session, company, position, limit, kPageBytesMax);
  std::vector<StoredEvent> events;
  const auto ends = [&] { return position >= last || static_cast<int>(events.size()) == limit; };
  const auto fill_up_to = [&](int64_t seq) {
    while (position < seq && !ends()) events.push_back({.seq = ++position, .is_damaged = true});
  };
  for (StoredEvent& event : found) {
    // Rows are found by their place in the table, which a damaged number does not have.
    if (event.is_damaged) event.seq = position + 1;
    fill_up_to(event.seq - 1);
    if (ends()) break;
    if (event.seq != position + 1) continue;
    ++position;
    events.push_back(std::move(event));
  }
  if (found.empty()) fill_up_to(last);
  return events;
}

}  // namespace

Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit,
              const std::function<bool(const StoredEvent&)>& wants) {
  Page page{.extent = ExtentOf(session, company)};
  page.position = std::max(position, page.extent.oldest - 1);
  const int64_t look_to = std::min(page.extent.last, page.position + kLookedAtMax);
  const auto missing = [&] { return limit - static_cast<int>(page.events.size()); };
  size_t bytes = 0;
  bool is_full = false;
  while (page.position < look_to && missing() > 0 && !is_full) {
    for (StoredEvent& event : ReadOn(session, company, page.position, missing(), look_to)) {
      const bool is_wanted = wants(event);
      if (is_wanted) bytes += event.body.size();
      is_full = is_wanted && bytes > kPageBytesMax && !page.events.empty();
      if (is_full) break;
      page.position = event.seq;
      if (is_wanted) page.events.push_back(std::move(event));
    }
  }
  page.at_end = page.position >= page.extent.last;
  return page;
}

Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit) {
  return ReadPage(session, company, position, limit, [](const StoredEvent&) { return true; });
}

std::optional<int64_t> PositionOf(const Cursor& cursor, const Extent& extent) {
  const bool is_kept =
      cursor.epoch == extent.epoch && cursor.seq >= extent.oldest - 1 && cursor.seq <= extent.last;
  return is_kept ? std::optional(cursor.seq) : std::nullopt;
}

int64_t StartOf(std::string_view after, const Extent& extent) {
  if (after.empty()) return extent.oldest - 1;
  const std::optional<Cursor> cursor = Decode(after);
  if (!cursor) {
    constexpr std::string_view kMessage =
        "must be a cursor as this feed or X-Event-Cursor gave it.";
    throw Refusal(Problem::kInvalidParameter, "after: " + std::string(kMessage),
                  {{"after", FieldCode::kInvalidFormat, std::string(kMessage)}});
  }
  if (const std::optional<int64_t> position = PositionOf(*cursor, extent)) return *position;
  Refusal refusal(
      Problem::kCursorExpired,
      "The events behind this cursor are no longer kept, or it is from before a restore: read "
      "the lists again and go on from their X-Event-Cursor, or from oldest_cursor.");
  refusal.oldest_cursor = Encode({extent.epoch, extent.oldest - 1});
  throw refusal;
}

Feed::Reader::Reader(Feed& feed, std::string name, ReaderCalls calls)
    : feed_(feed), name_(std::move(name)), calls_(std::move(calls)) {
  const std::lock_guard lock(feed_.mutex_);
  feed_.readers_.push_back(this);
}

Feed::Reader::~Reader() {
  const std::lock_guard lock(feed_.mutex_);
  std::erase(feed_.readers_, this);
}

void Feed::Committed() const {
  const std::lock_guard lock(mutex_);
  for (const Reader* reader : readers_) {
    if (reader->calls_.committed) reader->calls_.committed();
  }
}

void Feed::Purged(db::Tx& tx, db::CompanyId company, int64_t last) const {
  const std::lock_guard lock(mutex_);
  for (const Reader* reader : readers_) {
    if (reader->calls_.purged) reader->calls_.purged(tx, company, last);
  }
}

}  // namespace comanda::events
