#pragma once

// Reads the orders of the cloud (contract section 15.4). A cloud that has GET /v1/events is
// followed by its cursor, after one listing that gives the first cursor; an event names an order,
// and brings its record where that shows a version, which tells whether it is newer than what was
// acknowledged meanwhile: else the order is read as it is now. Any other cloud is polled: open
// orders every `poll_ms`, the orders of the last two days every 5 minutes. An order that leaves the
// list of open ones is read by its id.
//
// Every reading is bounded: pages until one brings no new id, or 200 pages. A page that is too
// large is read in parts, and an order that is too large alone is left out. The entity tags of
// pages are kept in memory as long as the hashes of their records (cloud/orders/record_batches.h),
// since a page that is not modified says nothing without them.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cloud/link/line.h"
#include "cloud/link/link.h"
#include "cloud/orders/record_batches.h"
#include "db/database.h"
#include "json/reader.h"

namespace comanda::cloud {

inline constexpr int kOrderPagesMax = 200;  // of one listing

struct OrdersReaderSettings {
  db::Database& database;
  const Clock& clock;
  int64_t poll_ms = 15'000;
  // The provider whose riders are users of the company, in the cloud and here.
  std::string rider_provider;
  std::string platform_name = "comanda";
};

// Used by the worker's thread alone.
class OrdersReader {
 public:
  explicit OrdersReader(OrdersReaderSettings settings);

  // The ms until Read() or EventsRequest() has something to do; 0: now. Monotonic time.
  int64_t DueInMs(const Linked& linked) const;
  // Whether the orders were read since Restart(), or are followed by the cloud's events.
  bool HasRead(const Linked& linked) const {
    return memory_.recent_at_ms > 0 || (Follows(linked) && linked.link.cursor);
  }
  // Reads what is due, and stores it in transactions of bounded size. Throws Interrupted (line.h)
  // and what the database throws; the next call goes on from the page that was interrupted.
  void Read(const Linked& linked, Line& line);

  // The long poll of the cloud's events, which the worker keeps under way beside its other
  // requests, because it waits: nothing where the cloud has no events, or the listing that gives
  // the cursor is still due. kOwed: it is asked at once, whenever it would be due, and does not
  // wait.
  enum class Poll : uint8_t { kDue, kOwed };
  std::optional<Request> EventsRequest(const Linked& linked, Poll poll = Poll::kDue) const;
  // Takes the events of its answer, and stores the cursor in the same transaction. An answer 410:
  // the cursor is dropped, and the listing becomes due. Another refusal: the cloud is polled. True
  // where the answer has events, and all of them are echoes: orders as they were seen before.
  bool TakeEvents(const Linked& linked, const Reply& reply, Poll poll = Poll::kDue);

  // Everything is due at once, as after a link or `resume`.
  void Restart();

 private:
  // Of a list that is cut into pages of so many rows; the first is 1.
  struct PagePlace {
    int64_t rows = 0;
    int64_t number = 0;
    auto operator<=>(const PagePlace&) const = default;
  };
  // A listing that is being read.
  struct Walk {
    std::string path;           // without the page
    bool takes_known = false;   // orders that are unknown here are left out
    int64_t row = 0;            // the next one, from 0
    int64_t furthest = 0;       // where it was at most
    std::set<std::string> ids;  // of the cloud
    bool has_more = true;       // as the last page said
    bool is_new = true;         // the last page had an order that no page before had
    // The rows of a page, where the cloud gives fewer than it was asked for.
    int64_t rows_max = std::numeric_limits<int64_t>::max();
    std::set<PagePlace> too_large;
    int large_in_a_row = 0;                 // orders that were too large alone
    std::vector<std::string> without_rows;  // orders that the list shows without their items
  };
  // A page that the cloud has an entity tag for.
  struct Page {
    std::string etag;
    int64_t rows = 0;  // with those that have no id
    std::vector<std::string> ids = {};
    bool has_more = false;
  };
  enum class Outcome : uint8_t { kDone, kGivenUp };

  bool Follows(const Linked& linked) const;
  void ReadChanged(const Linked& linked, Line& line);
  void ReadListing(const Linked& linked, Line& line);
  bool ReadOpen(const Linked& linked, Line& line);
  bool ReadRecent(const Linked& linked, Line& line);
  std::string RecentPath(const Linked& linked);
  std::string PathSince(const Linked& linked, UtcMs since);
  enum class Listing : uint8_t { kOpen, kRecent, kEvents };
  // Stores whether each was read the last time.
  void NoteListing(const Linked& linked, Listing listing, bool is_read);

  // Compares all orders that were sent with a cloud that may have gone back
  // (cloud/orders/went_back.h).
  bool CompareSent(const Linked& linked, Line& line);
  void NoteMissing(const Linked& linked, const std::set<std::string>& there);

  enum class Taken : uint8_t { kAll, kKnown };  // of a listing: also orders that are unknown here
  // Reads all pages; the ids in them, or nothing where the reading was given up.
  std::optional<std::set<std::string>> ReadPages(const Linked& linked, Line& line,
                                                 const std::string& path,
                                                 Taken taken = Taken::kAll);
  Outcome ReadPage(const Linked& linked, Line& line, Walk& walk);
  static PagePlace NextPage(const Linked& linked, const Walk& walk);
  Outcome NoteTooLarge(Walk& walk, const PagePlace& place);
  static void NotePage(Walk& walk, const PagePlace& place, const Page& page);
  void TakePage(const Linked& linked, Walk& walk, const Reply& reply, const std::string& path,
                const PagePlace& place);
  // Whether it is open in the cloud; nothing where that is not known.
  std::optional<bool> ReadOne(const Linked& linked, Line& line, const std::string& cloud_id);
  bool ReadThoseThatLeft(const Linked& linked, Line& line, std::set<std::string>& open);
  std::vector<std::string> OpenHere(const Linked& linked);

  std::vector<json::Value> KnownOf(const Linked& linked, const std::vector<json::Value>& records);
  // Without those that show no more than was seen before: in the answers to this box's steps,
  // mostly.
  std::vector<json::Value> WithoutEchoes(const Linked& linked,
                                         const std::vector<json::Value>& records);

  // What Restart() forgets.
  struct Memory {
    // Monotonic times.
    int64_t open_at_ms = 0, recent_at_ms = 0, listing_at_ms = 0, events_at_ms = 0;
    int64_t polls_until_ms = 0;                 // the cloud's events were refused
    std::map<std::string, Walk> walks;          // that were interrupted, by path
    std::optional<std::string> listing_cursor;  // of the first page of the listing
    // Orders that events have named without a version, and the cursor behind those events.
    std::set<std::string> changed;
    std::optional<std::string> cursor_behind;
    std::set<std::string> again;  // those that the cloud did not give
    int64_t again_at_ms = 0;
    std::set<std::string> open;           // in the cloud, at the last reading
    std::set<std::string> left;           // read by their ids since they left that list
    std::map<std::string, Page> pages;    // by path
    std::string trouble;                  // why the last listing that was given up was
    std::array<std::string, 3> troubles;  // of each Listing; empty: it was read
    std::optional<std::string> noted;     // what of them is stored; nothing: not looked up yet
  };

  const OrdersReaderSettings settings_;
  Memory memory_;
  RecordBatches batches_;
};

}  // namespace comanda::cloud
