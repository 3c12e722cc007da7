#pragma once

// Readers of the event log.
//
// A reader is anything that handles the events of a company's log in order, in its own time: a long
// poll, a webhook subscription, a printer. It has a name and a position: the seq of the last event
// that it has handled. The position is the reader's own data. It is stored in a table of the
// reader's room and is written in the transaction that records the handling, so that after a crash
// the reader goes on with the first event that it has not handled. The log keeps no list of
// positions and is the only queue: a reader that is behind costs nothing but its position.
//
// The feed of a database connects the readers with the log:
//   - ReadPage() returns the events after a position, with the extent of the log;
//   - after each commit it wakes the readers that wait;
//   - it calls every reader when the purge (events/retention.h) deletes events, inside the purge's
//     transaction. A reader that has not handled all of them moves its position to the last one and
//     counts the events that it has missed. The purge waits for no reader.
//
// RestartNumbering() (events/log.h) numbers the events of a company from 1 again: its caller
// deletes the positions of the company's readers in the same transaction. Restoring a backup needs
// no such step: positions and log were copied at the same moment.

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

// ReadPage() examines at most this many events, so that a reader that selects few of them does not
// read the whole log in one transaction.
inline constexpr int64_t kLookedAtMax = 1'000;

struct Page {
  Extent extent;
  std::vector<StoredEvent> events;
  int64_t position = 0;  // the last seq examined: the reader's position once it handled the page
  bool at_end = false;   // the log has no event after `position`
};

// The bodies of a page have at most this many bytes together; a single larger body is a page.
inline constexpr size_t kPageBytesMax = 1024 * 1024;

// At most `limit` events after the position for which `wants` returns true, in order, read in one
// snapshot with the extent. The page ends early at kLookedAtMax and kPageBytesMax: so it may be
// empty although it is not at_end; the caller then reads on from its position.
Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit,
              const std::function<bool(const StoredEvent&)>& wants);
Page ReadPage(db::Session& session, db::CompanyId company, int64_t position, int limit);

// The position that a client's cursor names. Nothing where the log cannot continue from it: events
// after it are purged, or the cursor has another epoch.
std::optional<int64_t> PositionOf(const Cursor& cursor, const Extent& extent);
// The same of a request's parameter `after`; the position before the oldest event where that is
// empty. Refusal invalid_parameter or cursor_expired.
int64_t StartOf(std::string_view after, const Extent& extent);

// The callbacks of a reader. An empty one is not called.
struct ReaderCalls {
  // Called on the writer thread after each commit, whether it wrote events or not. Must be quick,
  // must not throw, and must not use the database.
  std::function<void()> committed;
  // Called inside the purge's transaction, which may be repeated, before it deletes the events of
  // this company up to and including `last`. May use nothing but the transaction. An exception ends
  // the purge.
  std::function<void(db::Tx& tx, db::CompanyId company, int64_t last)> purged;
};

// All methods may be called by any thread.
class Feed {
 public:
  // Registers a reader for the lifetime of the object. The destructor waits for a callback that is
  // running; afterwards none is called.
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

  // Calls `committed` of all readers. For db::Database::SetAfterCommit.
  void Committed() const;
  // Calls `purged` of all readers. For the purge.
  void Purged(db::Tx& tx, db::CompanyId company, int64_t last) const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Reader*> readers_;  // guarded by mutex_
};

}  // namespace comanda::events
