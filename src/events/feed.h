#pragma once

// Readers of the event log.
//
// A reader is anything that handles the events of a company's log in order, in its own time: a long
// poll, a webhook subscription, a printer. It has a name and a position: the seq of the last event
// that it has handled. The position is the reader's own data. It stands in a table of the reader's
// room and is written in the transaction that records the handling, so that after a crash the
// reader goes on with the first event that it has not handled. The log keeps no list of positions
// and is the only queue: a reader that is behind costs nothing but its position.
//
// The feed of a database connects the readers with the log:
//   - ReadPage() hands out the events after a position, with the extent of the log;
//   - after each commit it wakes the readers that wait;
//   - it tells every reader when the purge (events/retention.h) deletes events, inside the purge's
//     transaction. A reader whose position is before them moves it there and counts what it has
//     lost. The purge waits for no reader: events older than the log's retention go.
//
// After StartAnew() (events/log.h) the events of a company count from 1 again: whoever calls it
// deletes the positions of its readers in the same transaction. A restored backup needs nothing:
// positions and log are of the same moment.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "db/session.h"
#include "events/cursor.h"
#include "events/log.h"

namespace comanda::events {

// Every event up to this many is looked at for one page, so that a reader that wants few of them
// does not read the whole log at once.
inline constexpr int64_t kLookedAtMax = 1'000;

struct Page {
  Extent extent;
  std::vector<StoredEvent> events;
  int64_t position = 0;  // of the reader once it has handled the page: not wanted ones included
  bool at_end = false;   // no event comes after that position
};

// The bodies of a page have at most so many bytes, unless one alone has more.
inline constexpr size_t kPageBytesMax = 1024 * 1024;

// At most `limit` events after the position that `wants` selects, in order, read in one snapshot
// with the extent. It ends early where their bodies would have more than kPageBytesMax. A page
// without events that is not at_end is followed by another.
Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit,
              const std::function<bool(const StoredEvent&)>& wants);
Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit);

// The position that a client's cursor stands for. Nothing where the log cannot continue it: events
// after it are purged, or it is of another epoch.
std::optional<int64_t> PositionOf(const Cursor& cursor, const Extent& extent);

// What a reader may be told. Members that are empty are not called.
struct ReaderCalls {
  // On the writer thread after each commit, whether it wrote events or not: must be quick and must
  // not throw or use the database.
  std::function<void()> committed;
  // Inside the purge's transaction, which may run again: the events of this company up to and
  // including `last` are deleted next. Uses the transaction alone. What it throws ends this purge.
  std::function<void(db::Tx& tx, db::CompanyId company, int64_t last)> purged;
};

// Any thread.
class Feed {
 public:
  // The registration of a reader for as long as the object lives. Once it is destroyed, none of its
  // calls is running or comes any more.
  class Reader {
   public:
    Reader(Feed& feed, std::string name, ReaderCalls calls);
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader();
    const std::string& name() const { return name_; }

   private:
    friend class Feed;
    Feed& feed_;
    const std::string name_;
    const ReaderCalls calls_;
  };

  // After each commit of the database (db::Database::SetAfterCommit).
  void Committed() const;
  // In the purge's transaction.
  void Purged(db::Tx& tx, db::CompanyId company, int64_t last) const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Reader*> readers_;  // guarded by mutex_
};

}  // namespace comanda::events
