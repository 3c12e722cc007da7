#pragma once

// Reads the orders of the cloud (contract section 15.4). A cloud that has GET /v1/events is
// followed by its cursor, after one listing that gives the first cursor; any other is polled: open
// orders every `poll_ms`, the orders of the last two days every 5 minutes. An order that leaves the
// list of open ones is read by its id.
//
// Every answer is bounded: pages until an id repeats, or 200 pages. A record whose bytes have not
// changed since it was taken is not taken again (a hash of each is kept in memory, bounded).

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "cloud/line.h"
#include "cloud/link.h"
#include "db/database.h"

namespace comanda::cloud {

struct OrdersReaderSettings {
  db::Database& database;
  const Clock& clock;
  int64_t poll_ms = 15'000;
  std::string rider_provider;
};

// Used by the worker's thread alone.
class OrdersReader {
 public:
  explicit OrdersReader(OrdersReaderSettings settings);

  // The ms until Read() has something to do; 0: now. Monotonic time.
  int64_t DueInMs(const Linked& linked) const;
  // Reads what is due, and stores it in transactions of bounded size. Throws Interrupted (line.h)
  // and what the database throws.
  void Read(const Linked& linked, Line& line);

  // The long poll of the cloud's events, which the worker keeps under way beside its other
  // requests, because it waits: nothing where the cloud has no events, or the listing that gives
  // the cursor is still due.
  std::optional<Request> EventsRequest(const Linked& linked) const;
  // Takes the events of its answer, and stores the cursor in the same transaction. An answer 410:
  // the cursor is dropped, and the listing becomes due.
  void TakeEvents(const Linked& linked, const Reply& reply);

  // Everything is due at once, as after a link or `resume`.
  void Restart();
};

}  // namespace comanda::cloud
