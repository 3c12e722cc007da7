#include "events/feed.h"

#include <algorithm>
#include <utility>

namespace comanda::events {

Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit,
              const std::function<bool(const StoredEvent&)>& wants) {
  Page page{.extent = ExtentOf(session, company), .position = position};
  const int64_t look_to = std::min(page.extent.last, position + kLookedAtMax);
  const auto missing = [&] { return limit - static_cast<int>(page.events.size()); };
  size_t bytes = 0;
  bool is_full = false;
  while (page.position < look_to && missing() > 0 && !is_full) {
    std::vector<StoredEvent> found =
        ReadAfter(session, company, page.position, missing(), kPageBytesMax);
    if (found.empty()) break;  // rows at the end of the log are missing: damage
    for (StoredEvent& event : found) {
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
